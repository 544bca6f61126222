import type { JudgeFinding } from '../../core/run-record.ts'
import type { TestResult, TestResults } from './test-results.ts'
import { isKept, type JudgedRun } from './verdict.ts'

/** The tests that ran on the base and weren't seen to pass in another run. */
export function redTests(base: TestResults, run: JudgedRun): readonly TestResult[] {
  return [...base.values()].filter((test) => test.passed + test.failed > 0 && !isKept(test, run.tests.get(test.id)))
}

/**
 * Combines two runs of the same command on the same tree: what passed in one of them can pass. A test that failed in the first run only isn't broken by
 * the change, but it is named, because it depends on something else than the tree.
 */
export function secondTry(
  base: TestResults,
  first: JudgedRun,
  second: JudgedRun,
): { readonly best: JudgedRun; readonly findings: readonly JudgeFinding[] } {
  const flaky = redTests(base, first).flatMap((test) => {
    const found = second.tests.get(test.id)
    return found !== undefined && isKept(test, found) ? [found] : []
  })
  const tests = new Map([...first.tests, ...flaky.map((test) => [test.id, test] as const)])
  const isGreen = redTests(base, { ...first, tests }).length === 0 && second.succeeded
  return {
    best: isGreen ? { ...second, tests } : { ...first, tests },
    findings: flaky.map(({ id, file }) => ({
      kind: 'note',
      subject: file ?? id,
      test: id,
      detail: 'it failed against the change, and passed when it ran again: it is flaky',
    })),
  }
}
