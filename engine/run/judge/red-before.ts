import type { StoredRun } from './base-cache.ts'
import { isPassing, type TestResult, type TestResults } from './test-results.ts'

/** Where a command was seen to fail without the change; null if nowhere. */
type RedBefore = 'base' | 'new tests' | null

/** What a command did without the change. */
type Before = {
  readonly base: StoredRun
  /** What it does on the base with the run's tests; undefined if that is the base, because the run has changed no tests. */
  readonly withTests: (() => Promise<StoredRun | undefined>) | undefined
}

/**
 * Whether a command that succeeds with a change has failed without it. Where tests have ids, one that passes now must have failed: a command fails on the base
 * for any reason, for example because it names a file of tests that isn't there yet.
 *
 * @param now the tests with the change
 */
export async function redBefore({ base, withTests }: Before, now: TestResults): Promise<RedBefore> {
  const passing = [...now.values()].filter(isPassing)
  const isRed = ({ succeeded, tests }: StoredRun, isFailed: (test: TestResult | undefined) => boolean): boolean => {
    if (succeeded) return false
    const before = new Map(tests.map((test) => [test.id, { ...test, file: test.file }]))
    return now.size === 0 || passing.some(({ id }) => isFailed(before.get(id)))
  }
  const isGone = (test: TestResult | undefined): boolean => test === undefined || !isPassing(test)
  if (isRed(base, withTests === undefined ? isGone : (test) => test !== undefined && test.failed > 0)) return 'base'
  const tested = await withTests?.()
  return tested !== undefined && isRed(tested, isGone) ? 'new tests' : null
}

/** What the model is told if a command was never seen to fail. */
export const notRed =
  'succeeds without the change too, so it shows nothing. It must fail without the change: add a test that does, and that passes with the change'
