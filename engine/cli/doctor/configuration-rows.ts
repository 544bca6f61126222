import type { Ignored } from '../../config/ignored.ts'
import type { Row } from './doctor-row.ts'

/** The configuration that was found. */
export type ConfigurationFacts = {
  /** Files that are there, by the path a message would name. */
  readonly files: readonly string[]
  /** Where the user's own would be. */
  readonly own: string
  readonly ignored: readonly Ignored[]
  /** Skills, commands, agents, servers and plugins that can't be used, each with its location: a run continues without them. */
  readonly faults: readonly string[]
  /** Faults, each with its location: they stop every run. */
  readonly problems: readonly string[]
  /** Of the repository, or of the directory outside any; `trusted` is undefined where the file that decides could not be read. */
  readonly trust: { readonly root: string; readonly trusted: boolean | undefined }
}

/** Which files are used, which parts of them are ignored, what is wrong, and whether the repository is trusted. */
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
      ? [row('files', 'ok', `none: the defaults hold; yours would be ${own}`)]
      : read.map((path) => row(path, 'ok', state))),
    ...ignored.map(({ source, keys, reason }) =>
      row(source, 'note', `ignored${keys.length === 0 ? '' : `: ${keys.join(', ')}`} (${reason})`),
    ),
    ...faults.map((fault) => row('left out', 'note', fault)),
    ...problems.map((problem) => ({
      ...row('wrong', 'missing', problem),
      next: 'Mend that: until then nothing is run. agent config show prints what is in force.',
    })),
    trustRow(trust, ignored),
  ]
}

function row(check: string, state: Row['state'], found: string): Row {
  return { group: 'configuration', check, state, found }
}

function trustRow({ root, trusted }: ConfigurationFacts['trust'], ignored: readonly Ignored[]): Row {
  if (trusted === undefined)
    return row('trust', 'note', `whether ${root} is trusted can't be told before that is mended`)
  if (trusted) return row('trust', 'ok', `${root} is trusted: what it brings along counts`)
  const brings = ignored.some(({ source }) => source.startsWith(`${root}/`))
  const found = `${root} is not trusted: ${brings ? 'what it brings along does not count' : 'it brings nothing along that would count'}`
  const next = 'Once you have read those files: agent trust, or --trust for one run.'
  return brings ? { ...row('trust', 'note', found), next } : row('trust', 'ok', found)
}
