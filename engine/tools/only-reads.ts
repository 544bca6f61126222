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
        // These alarms don't mean that the command changes anything. The Guardian decides whether it may read the file or look up the data.
        alarms.every(({ kind }) => kind === 'unsandboxed' || kind === 'unlisted-file') &&
        opaque === undefined &&
        !unlisted,
    )
  )
}
