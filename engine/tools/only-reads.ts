import { analyseCommand } from '../../policies/index.ts'

/**
 * Whether a command line is proven to only read: every command in it is known, and none of them writes, connects to a host, runs code, or is unclear.
 * In case of doubt, the answer is no.
 *
 * @param cwd the absolute path of the directory that the command line would run in
 */
export function onlyReads(argv: readonly string[], cwd: string): boolean {
  const { class: worst, commands } = analyseCommand(argv, cwd)
  return (
    worst === 'read-only' &&
    commands.every(
      ({ alarms, opaque, unlisted }) =>
        // These alarms are about what a command reads, shows or looks up, such as an unlisted file, a remote's URL or a host name. They don't mean that it
        // changes anything. The Guardian decides whether the command may run.
        alarms.every(({ kind }) => kind === 'unsandboxed' || kind === 'unlisted-file') &&
        opaque === undefined &&
        !unlisted,
    )
  )
}
