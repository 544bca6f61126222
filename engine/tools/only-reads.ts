import { analyseCommand } from '../../policies/index.ts'

/**
 * Whether a command is proven to only read: every command in it is known, and none writes, connects, runs code, or is unclear. In doubt,
 * the answer is no.
 *
 * @param cwd the absolute path of the directory that it would run in
 */
export function onlyReads(argv: readonly string[], cwd: string): boolean {
  const { class: worst, commands } = analyseCommand(argv, cwd)
  return (
    worst === 'read-only' &&
    commands.every(
      ({ alarms, opaque, unlisted }) =>
        // Whether a query or a file may be read at all is the Guardian's decision.
        alarms.every(({ kind }) => kind === 'unsandboxed' || kind === 'unlisted-file') &&
        opaque === undefined &&
        !unlisted,
    )
  )
}
