import { analyseCommand } from '../../policies/index.ts'

/**
 * Whether an argument vector is proven to only read: every command in it is known, and none of them writes, connects, runs code, or is
 * unclear. In doubt it isn't.
 *
 * @param cwd absolute directory it would run in
 */
export function onlyReads(argv: readonly string[], cwd: string): boolean {
  const { class: worst, commands } = analyseCommand(argv, cwd)
  return (
    worst === 'read-only' &&
    commands.every(
      ({ alarms, opaque, unlisted }) =>
        // What a query or a file shows is the Guardian's affair.
        alarms.every(({ kind }) => kind === 'unsandboxed' || kind === 'unlisted-file') &&
        opaque === undefined &&
        !unlisted,
    )
  )
}
