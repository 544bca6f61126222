import type { Command } from 'commander'

/** The option that stands for a run's name. */
export const last = ['--last', 'the newest run that worked in this directory, whatever it did'] as const

/** What `--last` sets. */
export type Last = { readonly last?: true }

/** The run that the command line names; undefined if `--last` was given. Reports a usage error if neither or both were given. */
export function nameOf(run: string | undefined, options: Last, command: Command): string | undefined {
  if (options.last === true && run !== undefined) command.error('error: --last already names the run')
  if (options.last !== true && run === undefined) command.error('error: name a run, or give --last')
  return run
}
