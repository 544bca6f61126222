import { killLandings } from '../landing-kills.ts'
import { changes } from './changes.ts'
import { ends, everythingHappens, nothingHappens, strategies } from './run-battery.ts'
import { mountXfs } from './xfs.ts'

/** A row of the matrix: the strategy of the runs, how they ended, and what went wrong. */
type Row = {
  readonly strategy: string
  readonly end: string
  readonly tries: number
  readonly failures: readonly string[]
}

/** The parts that can be tried by themselves: the landing, and each strategy. */
export const transactionParts = ['landing', ...strategies] as const
type TransactionPart = (typeof transactionParts)[number]

/**
 * Tries landings that are killed at each of their calls, and then, with each strategy and each way to end, each kind of change by itself and all of them
 * together. If a strategy can't be tried here, its row says why.
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
