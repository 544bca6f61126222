import { analyseCommand } from '../../policies/index.ts'

/**
 * Whether it is proven that an argument vector only reads: every command in it is known, and none of them writes, connects, runs
 * code, or can't be told. In doubt it is not.
 *
 * @param cwd absolute directory it would run in
 */
export function onlyReads(argv: readonly string[], cwd: string): boolean {
  const { class: worst, commands } = analyseCommand(argv, cwd)
  return (
    worst === 'read-only' &&
    commands.every(
      ({ alarms, opaque, unlisted }) =>
        // What a query shows is the Guardian's affair.
        alarms.every(({ kind }) => kind === 'unsandboxed') && opaque === undefined && !unlisted,
    )
  )
}
