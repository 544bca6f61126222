/**
 * Output of programs that run tests. Every expression is matched against at most the last 16 KiB of a command's output, or a code block in a message.
 */

/** Matches the output of a run in which tests failed. */
export const failingTests =
  /[1-9]0{0,3} (?:failed|failing|failures?|errors?)\b|(?:# |ℹ )fail [1-9]|\bFAIL(?:ED|URES?)?\b|failures?[=:] ?[1-9]|^not ok /m
/** Matches the output of a test run that found no tests, and therefore proves nothing. */
const nothingRan =
  /no tests? (?:were |was )?(?:ran|run|found|to run|files? found)|no test files|collected 0 items|\bran 0 tests|\b0 passing/i
const somethingRan = /[1-9] (?:passed|passing|tests? passed)|^ok\s|tests?[ :]+[1-9]|[1-9] tests?\b/im

/** Whether a run found no tests. */
export function isEmptyRun(output: string): boolean {
  return nothingRan.test(output) && !somethingRan.test(output)
}

const summary =
  /\b\d+ (?:passed\b|passing\b|examples?, \d+ fail|tests?, \d+ (?:assert|fail|pass)|tests? (?:passed|failed)|scenarios? \(\d+ (?:pass|fail))|\bOK \(\d+ tests?\b|\btests run: \d+/i

/** Whether the end of an output contains the summary of a test run, whichever program printed it. */
export function isTestSummary(output: string): boolean {
  return summary.test(output.slice(-summaryLength))
}
const summaryLength = 2048

const counting =
  /\b[1-9]\d* (?:passed|passing|passes|tests?|examples|ok|successes|assertions|specs?)\b|tests?(?: run)?:? +[1-9]|passed:? +[1-9]/i

const failingCount =
  /\b(\d{1,6}) (?:tests? )?(?:failed|failing|failures?)\b|\b(?:failed|failures?|fail)[:=]? {0,4}(\d{1,6})\b/gi

const skippedCount = /\b(\d{1,6}) (?:tests? )?skipped\b|\bskipped[:=] {0,4}(\d{1,6})\b/gi

/**
 * Extracts the numbers from the output of a test run. `counts`: every whole number in the output; empty if the output doesn't report a number of tests.
 * `failures` and `skipped`: how many tests failed and how many were skipped; undefined if the output doesn't say.
 */
export function countedIn(output: string): {
  readonly counts: readonly number[]
  readonly failures: number | undefined
  readonly skipped: number | undefined
} {
  const last = [...output.matchAll(failingCount)].at(-1)
  const failures = last === undefined ? undefined : Number(last[1] ?? last[2])
  const lastSkipped = [...output.matchAll(skippedCount)].at(-1)
  const skipped = lastSkipped === undefined ? undefined : Number(lastSkipped[1] ?? lastSkipped[2])
  if (!counting.test(output)) return { counts: [], failures, skipped }
  const counts = [...output.matchAll(/[\d.]+/g)].flatMap(([digits]) =>
    /^\d{1,6}\.?$/.test(digits) ? [Number.parseInt(digits, 10)] : [],
  )
  return { counts, failures, skipped }
}
