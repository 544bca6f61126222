import type { Ignored } from '../../config/ignored.ts'
import type { Row } from './doctor-row.ts'

/** The facts about the configuration: its files, the problems in them, and whether the repository is trusted. */
export type ConfigurationFacts = {
  /** The paths of the configuration files that exist, as messages show them. */
  readonly files: readonly string[]
  /** The path of the user's own configuration file, whether or not the file exists. */
  readonly own: string
  readonly ignored: readonly Ignored[]
  /** Skills, commands, agents, servers and plugins that can't be used, each with its location. A run continues without them. */
  readonly faults: readonly string[]
  /** Problems that stop every run, each with its location. */
  readonly problems: readonly string[]
  /**
   * Whether the repository (or the directory, if it isn't in a repository) is trusted. `trusted` is undefined if the file that decides this could not
   * be read.
   */
  readonly trust: { readonly root: string; readonly trusted: boolean | undefined }
}

/**
 * Returns the rows that say which configuration files are used, which of their parts are ignored, what is wrong, and whether the repository is
 * trusted.
 */
export function configurationRows({
  files,
  own,
  ignored,
  faults,
  problems,
  trust,
}: ConfigurationFacts): readonly Row[] {
  const broken = (path: string): boolean => problems.some((problem) => problem.startsWith(`${path}:`))
  const dropped = new Set(ignored.filter(({ keys }) => keys.length === 0).map(({ source }) => source))
  const read = files.filter((path) => !broken(path) && !dropped.has(path))
  const state = problems.length === 0 ? 'read' : 'there'
  return [
    ...(files.length === 0
      ? [row('files', 'ok', `no file was found, so the defaults apply; your own file would be ${own}`)]
      : read.map((path) => row(path, 'ok', state))),
    ...ignored.map(({ source, keys, reason }) =>
      row(source, 'note', `ignored${keys.length === 0 ? '' : `: ${keys.join(', ')}`} (${reason})`),
    ),
    ...faults.map((fault) => row('left out', 'note', fault)),
    ...problems.map((problem) => ({
      ...row('wrong', 'missing', problem),
      next: 'Correct this: until then, no run can start. To see the effective settings, run agent config show.',
    })),
    trustRow(trust, ignored),
  ]
}

function row(check: string, state: Row['state'], found: string): Row {
  return { group: 'configuration', check, state, found }
}

function trustRow({ root, trusted }: ConfigurationFacts['trust'], ignored: readonly Ignored[]): Row {
  if (trusted === undefined)
    return row('trust', 'note', `whether ${root} is trusted is unknown until the errors are corrected`)
  if (trusted) return row('trust', 'ok', `${root} is trusted: its own configuration applies`)
  const brings = ignored.some(({ source }) => source.startsWith(`${root}/`))
  const found = `${root} is not trusted: ${brings ? 'its own configuration does not apply' : 'it has no configuration that would apply'}`
  const next =
    'If you have read the configuration files of the repository and trust them, run agent trust, or use --trust for one run.'
  return brings ? { ...row('trust', 'note', found), next } : row('trust', 'ok', found)
}
