import { lstatSync } from 'node:fs'
import type { Ignored } from '../config/ignored.ts'
import type { Memory } from '../memory/read-memory.ts'
import type { SourceFile } from './source-files.ts'

/** A file that a run looks for, and whether it is used. */
export type ConfigSource = Omit<SourceFile, 'alternatives'> & {
  readonly state: 'read' | 'read in part' | 'ignored' | 'broken' | 'not there'
  /** Why the file is ignored completely or in part, or is broken: a short text for each reason. */
  readonly why: readonly string[]
}

/** What was found out when all sources were read. */
type Findings = {
  readonly isolated: boolean
  readonly trusted: boolean
  /** The names of programs whose settings the user imports. */
  readonly imports: readonly string[]
  readonly ignored: readonly Ignored[]
  /** Skills, commands, agents, servers and plugins that can't be used, as sentences that begin with a location. */
  readonly faults: readonly string[]
  /** Errors that stop a run, as sentences that begin with a location. */
  readonly problems: readonly string[]
  readonly memory: Memory
}

/** Determines for each file whether it is used completely, in part or not at all. */
export function judgeSources(files: readonly SourceFile[], findings: Findings): readonly ConfigSource[] {
  const told = new Set(findings.memory.sources.map(({ path }) => path))
  return files.map(({ alternatives, ...source }) => {
    const verdict = judge({ ...source, ...(alternatives === undefined ? {} : { alternatives }) }, findings, told)
    return { ...source, ...verdict }
  })
}

type Verdict = Pick<ConfigSource, 'state' | 'why'>

const read: Verdict = { state: 'read', why: [] }

function judge(source: SourceFile, findings: Findings, told: ReadonlySet<string>): Verdict {
  const { path, whose, what } = source
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { state: 'not there', why: [] }
  if (findings.isolated && (whose === 'user' || whose === 'repository'))
    return { state: 'ignored', why: ['--isolated'] }
  const problems = findings.problems.flatMap((problem) => reasonAt(path, problem))
  if (problems.length > 0) return { state: 'broken', why: problems }
  const about = findings.ignored.filter((one) => one.source === path || isPlaceIn(one.source, path))
  const whole = about.find(({ source: at, keys }) => at === path && keys.length === 0)
  if (whole !== undefined) return { state: 'ignored', why: [whole.reason] }
  if (what === 'instructions') return judgeInstructions(source, findings, told)
  const faults = [
    ...about.map(({ source: at, keys, reason }) => [...keys, at === path ? '' : at.slice(path.length + 1), reason]),
    ...findings.faults.flatMap((fault) => reasonAt(path, fault)).map((reason) => [reason]),
  ].map((words) => words.filter((word) => word !== '').join(', '))
  const limits = limitsOf(source, findings)
  if (limits?.state === 'ignored') return limits
  const isUnread = faults.some((fault) =>
    /: not valid (?:TOML|JSON)|^(?:\d+:\d+, )?not valid (?:TOML|JSON)/.test(fault),
  )
  if (isUnread) return { state: 'broken', why: faults }
  const why = [...(limits?.why ?? []), ...faults]
  return why.length === 0 ? read : { state: 'read in part', why }
}

/**
 * Returns how much of a file is ignored because of its owner or because of the program that it was written for, and why; undefined if neither is a
 * reason to ignore any of it.
 */
function limitsOf({ whose, program, what }: SourceFile, { imports, trusted }: Findings): Verdict | undefined {
  const word = `import = ["${program}"] in your own configuration`
  if (whose === 'user' && (program === 'codex' || program === 'claude') && !imports.includes(program)) {
    if (what === 'servers' || what === 'plugins') return { state: 'ignored', why: [`it applies only with ${word}`] }
    const counting =
      program === 'codex'
        ? 'rules and settings that make runs stricter'
        : 'hooks, and permissions that forbid something or require approval,'
    return { state: 'read in part', why: [`only ${counting} apply; everything else needs ${word}`] }
  }
  if (whose !== 'repository') return undefined
  if (!trusted && (what === 'rules' || what === 'settings') && program !== 'other')
    return {
      state: 'read in part',
      why: ['the repository is not trusted: only entries that forbid something or require approval apply'],
    }
  const isClaude = program === 'claude' && what === 'settings'
  return isClaude && !imports.includes('claude')
    ? { state: 'read in part', why: [`permissions and hooks apply; model, env and plugins need ${word}`] }
    : undefined
}

function judgeInstructions(
  { path, alternatives = [] }: SourceFile,
  { memory }: Findings,
  told: ReadonlySet<string>,
): Verdict {
  const omitted = memory.omitted.find((one) => one.path === path)
  if (omitted !== undefined) return { state: 'ignored', why: [omitted.reason] }
  const first = alternatives.find((one) => told.has(one))
  return first !== undefined && first !== path && alternatives.indexOf(first) < alternatives.indexOf(path)
    ? { state: 'ignored', why: [`${first} takes its place`] }
    : read
}

/** Whether a place consists of the path and a line number, such as `path:12`, or of the path, a line and a column, such as `path:12:3`. */
function isPlaceIn(place: string, path: string): boolean {
  return place.startsWith(`${path}:`) && /^[\d:]+$/.test(place.slice(path.length + 1))
}

/**
 * If a sentence begins with `path` or with a path below it, returns the rest of the sentence as the only element of a list; otherwise an empty list.
 */
function reasonAt(path: string, sentence: string): readonly string[] {
  if (!sentence.startsWith(path)) return []
  const rest = sentence.slice(path.length)
  return rest.startsWith(':') ? [rest.slice(1).trim()] : rest.startsWith('/') ? [rest.slice(1)] : []
}
