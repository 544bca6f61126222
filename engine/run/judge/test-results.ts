/** What became of one test in one run of a command. `file`: the path that commands see, if the runner reports it. */
export type SeenTest = {
  readonly id: string
  /** The test's own name without those of the suites around it, or the parameters of one of its cases. */
  readonly name: string
  readonly file: string | undefined
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/** All outcomes that were reported under one id. Runners may report several tests, or one test several times, under the same id. */
export type TestResult = Omit<SeenTest, 'outcome'> & {
  readonly passed: number
  readonly failed: number
  /** Tests that ran in part or not at all, or whose failure is expected. */
  readonly skipped: number
}

export type TestResults = ReadonlyMap<string, TestResult>

/** The maximum number of ids that are kept of one run. */
const mostTests = 200_000

/** Groups what was seen by ids. */
export function groupTests(seen: Iterable<SeenTest>): TestResults {
  const results = new Map<string, TestResult>()
  for (const { id, name, file, outcome } of seen) {
    const known = results.get(id) ?? { id, name, file, passed: 0, failed: 0, skipped: 0 }
    if (results.size >= mostTests && !results.has(id)) break
    results.set(id, { ...known, [outcome]: known[outcome] + 1 })
  }
  return results
}

/** Whether everything reported under an id passed. */
export function isPassing({ passed, failed }: TestResult): boolean {
  return passed > 0 && failed === 0
}

/** The same results with the paths of files relative to the root of a tree, in ids too. */
export function relativeTests(results: TestResults, root: string): TestResults {
  const short = (text: string): string => (text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text)
  return new Map(
    [...results.values()].map((test) => {
      const id = test.id.split(' > ').map(short).join(' > ')
      return [id, { ...test, id, name: short(test.name), file: test.file === undefined ? undefined : short(test.file) }]
    }),
  )
}
