import { killLandings } from '../landing-kills.ts'
import { changes } from './changes.ts'
import { ends, everythingHappens, nothingHappens, strategies } from './run-battery.ts'
import { mountXfs } from '../../../support/loop-file-system.ts'

/** A row of the results: the strategy and the outcome of the runs, the number of tries, and what went wrong. */
type Row = {
  readonly strategy: string
  readonly end: string
  readonly tries: number
  readonly failures: readonly string[]
}

/** The parts of the transaction soak test that can be run separately: the landing, and each strategy. */
export const transactionParts = ['landing', ...strategies] as const
type TransactionPart = (typeof transactionParts)[number]

/**
 * Kills a landing at each of its system calls that change a file system. Then, with each strategy and each way for a run to end, tries each kind of
 * change by itself and all of them together. If a strategy can't be tried here, its row says why.
 */
export async function* runTransactions(parts: readonly TransactionPart[]): AsyncIterable<Row> {
  for (const withCommits of parts.includes('landing') ? [false, true] : []) {
    const { tried, failures } = await killLandings(1, withCommits)
    const what = withCommits ? 'landing, with commits' : 'landing'
    yield { strategy: what, end: 'SIGKILL at each call', tries: tried, failures }
  }
  const groups = [...changes.map((change) => [change]), changes]
  for (const strategy of strategies.filter((each) => parts.includes(each))) {
    const xfs = strategy === 'reflink' ? mountXfs(1024) : undefined
    if (typeof xfs === 'string') {
      yield { strategy, end: xfs, tries: 0, failures: [] }
      continue
    }
    try {
      for (const end of ends) {
        const failures: string[] = []
        for (const group of groups) failures.push(...(await nothingHappens(strategy, end, group, xfs?.directory)))
        yield { strategy, end: end.name, tries: groups.length, failures }
      }
      const failures: string[] = []
      const landing = groups.filter((group) =>
        group.some(({ apart, notBy }) => apart !== 'blocks' && notBy !== strategy),
      )
      for (const group of landing) failures.push(...(await everythingHappens(strategy, group, xfs?.directory)))
      yield { strategy, end: 'success', tries: landing.length, failures }
    } finally {
      xfs?.close()
    }
  }
}
