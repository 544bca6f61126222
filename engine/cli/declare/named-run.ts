import type { Command } from 'commander'
import type { NamedRun } from '../find-session.ts'

/** The option that stands for a run's name. */
export const last = ['--last', 'the newest run that worked in this directory, whatever it did'] as const

/** The option that says where `--last` looks. */
export const lastIn = ['-C, --cd <dir>', 'the directory that --last means (default: the current one)'] as const

/** What `--last` and `-C` set. */
export type Last = { readonly last?: true; readonly cd?: string }

/** The run that the command line names. Reports a usage error if none is named, or one besides `--last`. */
export function nameOf(run: string | undefined, { last, cd = '.' }: Last, command: Command): NamedRun {
  if (last !== true) return run ?? command.error('error: name a run, or give --last')
  return run === undefined ? { newestIn: cd } : command.error('error: --last already names the run')
}
