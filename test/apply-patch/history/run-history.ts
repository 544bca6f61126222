import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parsePatch, PatchError, planPatch, type PlanOptions } from '../../../apply-patch/index.ts'
import { drawCommits, randomFrom, type Commit } from './read-commits.ts'
import { clean, mistakes, writePatch } from './write-patch.ts'

/** What became of the patches that were written in one way. */
export type HistoryRow = {
  readonly way: string
  readonly mode: string
  exact: number
  /** Equal up to line endings, a byte-order mark, and the final newline. */
  endings: number
  ambiguous: number
  refused: number
  wrongTold: number
  wrongSilent: number
  /** The commits that were refused or became wrong, each with the reason. */
  readonly examples: string[]
}

const agent = { mode: 'lenient', ambiguous: 'refuse' } as const
const modes: Readonly<Record<string, Pick<PlanOptions, 'mode' | 'ambiguous'>>> = {
  agent,
  lenient: { mode: 'lenient', ambiguous: 'first' },
  strict: { mode: 'strict' },
}

type HistoryOptions = {
  readonly repositories: readonly string[]
  /** How many commits are drawn from each repository, and how many of these are also written with mistakes. */
  readonly commits: number
  readonly mistaken: number
  readonly seed: number
}

/** Writes commits of real repositories as patches, plans each against the parent commit, and compares the result with the commit. */
export async function runHistory(
  options: HistoryOptions,
): Promise<{ rows: readonly HistoryRow[]; failures: readonly string[] }> {
  const rows = new Map<string, HistoryRow>()
  const rowOf = (way: string, mode: string): HistoryRow => {
    const counts = { exact: 0, endings: 0, ambiguous: 0, refused: 0, wrongTold: 0, wrongSilent: 0 }
    const row = rows.get(`${way} ${mode}`) ?? { way, mode, ...counts, examples: [] }
    rows.set(`${way} ${mode}`, row)
    return row
  }
  for (const repository of options.repositories) {
    let number = 0
    for (const commit of drawCommits(repository, options.commits, options.seed)) {
      const root = checkOut(commit)
      const name = `${repository.split('/').slice(-2).join('/')} ${commit.id.slice(0, 10)}`
      const random = randomFrom(options.seed + number)
      try {
        for (const [way, writer] of Object.entries(clean)) {
          const text = writePatch(commit, writer, random) ?? writePatch(commit, {}, random) ?? ''
          for (const [mode, settings] of Object.entries(modes))
            await judge(text, commit, { root, ...settings }, rowOf(way, mode), name)
        }
        if (number++ < options.mistaken) {
          for (const [way, writer] of Object.entries(mistakes)) {
            const text = writePatch(commit, writer, random)
            if (text !== undefined) await judge(text, commit, { root, ...agent }, rowOf(way, 'agent'), name)
          }
        }
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    }
  }
  const all = [...rows.values()]
  return { rows: all, failures: all.flatMap(shortcomings) }
}

/** One line for a row, and one for each of the first patches that became wrong. */
export function describeRow(row: HistoryRow): string {
  const { way, mode, exact, endings, ambiguous, refused, wrongTold, wrongSilent } = row
  const wrong = `wrong ${wrongTold} told, ${wrongSilent} silent`
  const counts = `exact ${exact}, but for line endings ${endings}, two places fit ${ambiguous}, refused ${refused}, ${wrong}`
  const examples = row.examples.filter((example) => example.includes('WRONG')).slice(0, 3)
  return [`${way} (${mode}): ${counts}`, ...examples.map((example) => `    ${example}`)].join('\n    ')
}

/** The promises that a row breaks. Where two places fit, a refusal is the promise. */
function shortcomings(row: HistoryRow): readonly string[] {
  const { way, mode, exact, endings, ambiguous, refused, wrongTold, wrongSilent } = row
  const found: string[] = []
  const total = exact + endings + ambiguous + refused + wrongTold + wrongSilent
  const right = exact + endings
  const isClean = way in clean
  if (wrongSilent > 0) found.push(`${way}, ${mode}: ${wrongSilent} silently wrong`)
  if (isClean && mode !== 'lenient' && wrongTold > 0) found.push(`${way}, ${mode}: ${wrongTold} wrong`)
  if (isClean && mode === 'agent' && right < 0.96 * total) found.push(`${way}: only ${right} of ${total} right`)
  const mustFail = mistakes[way]?.mustFail === true
  if (mustFail && right > 0.05 * total) found.push(`${way}: ${right} of ${total} applied`)
  if (!isClean && !mustFail && right < 0.8 * (total - ambiguous))
    found.push(`${way}: only ${right} of ${total - ambiguous} right where two places don't fit`)
  return found
}

function checkOut({ files }: Commit): string {
  const root = mkdtempSync(join(tmpdir(), 'apply-patch-history-'))
  for (const { path, before } of files) {
    if (before === undefined) continue
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), before)
  }
  return root
}

async function judge(
  text: string,
  { files }: Commit,
  options: PlanOptions,
  row: HistoryRow,
  name: string,
): Promise<void> {
  try {
    const { patch, repairs } = parsePatch(text, { mode: options.mode ?? 'lenient' })
    const { changes, warnings } = await planPatch(patch, options)
    const planned = new Map(
      changes.map((change) => [change.place.path, change.type === 'write' ? Buffer.concat(change.content) : undefined]),
    )
    const after = files.map(({ path, before, after: wanted }) => {
      const found = planned.has(path) ? planned.get(path) : before
      if (found === undefined || wanted === undefined) return found === wanted ? 'exact' : 'wrong'
      if (found.equals(wanted)) return 'exact'
      return plain(found) === plain(wanted) ? 'endings' : `wrong in ${path}`
    })
    const strayed = [...planned.keys()].find((path) => !files.some((file) => file.path === path))
    const wrong = strayed ?? after.find((each) => each.startsWith('wrong'))
    if (wrong !== undefined) {
      const isTold = warnings.length > 0 || repairs.length > 0
      if (isTold) row.wrongTold++
      else row.wrongSilent++
      row.examples.push(`${name} ${isTold ? 'WRONG, told' : 'WRONG'}: ${wrong}`)
    } else if (after.includes('endings')) row.endings++
    else row.exact++
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    const isAmbiguous = error.failures.every(({ code }) => code === 'ambiguous')
    if (isAmbiguous) row.ambiguous++
    else row.refused++
    const [first] = error.failures
    const where = first !== undefined && 'path' in first ? ` ${first.path}` : ''
    const causes = first !== undefined && 'causes' in first ? ` ${first.causes.map(({ type }) => type).join()}` : ''
    row.examples.push(`${name} refused: ${first?.code}${where}${causes}`)
  }
}

function plain(bytes: Buffer): string {
  return bytes
    .toString()
    .replace(/^\uFEFF/, '')
    .replaceAll('\r', '')
    .replace(/\n$/, '')
}
