/**
 * Output of programs that run tests. Every expression is matched against at most the last 16 KiB of a command's output.
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

/** The summaries of node --test and prove. */
const ownSummary = /^(?:# |ℹ )pass \d+|^Result: PASS/m

/** Whether the end of an output contains the summary of a test run, whichever program printed it. */
export function isTestSummary(output: string): boolean {
  const end = output.slice(-summaryLength)
  return summary.test(end) || ownSummary.test(end)
}
const summaryLength = 2048

const failingCount =
  /\b(\d{1,6}) (?:tests? )?(?:failed|failing|failures?)\b|\b(?:failed|failures?|fail)[:=]? {0,4}(\d{1,6})\b/gi

const skippedCount = /\b(\d{1,6}) (?:tests? )?skipped\b|\bskipped[:=] {0,4}(\d{1,6})\b/gi

/** How many tests failed, according to the last such number in an output; undefined if the output doesn't say. */
export function failuresIn(output: string): number | undefined {
  return lastOf(failingCount, output)
}

/** How many tests were skipped, according to the last such number in an output; undefined if the output doesn't say. */
export function skippedIn(output: string): number | undefined {
  return lastOf(skippedCount, output)
}

function lastOf(count: RegExp, output: string): number | undefined {
  const last = [...output.matchAll(count)].at(-1)
  return last === undefined ? undefined : Number(last[1] ?? last[2])
}
