import { homedir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { analyseCommand, secretPlace, type AnalysedCommand } from '../../policies/index.ts'
import { isInside } from '../core/paths.ts'
import { pathsBelow } from '../core/paths-below.ts'

type Word = AnalysedCommand['words'][number]

/** The machine's own, where no project keeps a secret and a search may go for long. */
const ofTheMachine = /^\/(?:usr|bin|sbin|lib\w*|proc|sys|dev|nix)?(?:\/|$)/
/** More is not looked at: a search of so much says little to a model. */
const mostEntries = 100_000

/**
 * Files that a name gives away as holding secrets, below what a command goes through without naming them: `grep -r KEY .` comes upon `.env`, which
 * nobody was asked about. A command that names each file it reads comes upon none.
 *
 * @param argv proven to only read
 * @param cwd absolute
 */
export function searchedSecrets(argv: readonly string[], cwd: string): readonly string[] {
  const { commands } = analyseCommand(argv, cwd)
  if (!commands.some(({ reads, trees }) => trees.length > 0 || reads.some(({ kind }) => kind !== 'static'))) return []
  const named = commands.flatMap(({ words }) => words.slice(1)).flatMap((word) => placeOf(word, cwd))
  const places = [...new Set([cwd, ...named])].filter((place) => !ofTheMachine.test(place))
  const outermost = places.filter((place) => !places.some((other) => other !== place && isInside(place, other)))
  const found: string[] = []
  let entries = 0
  for (const place of outermost)
    for (const { path, isDirectory } of pathsBelow(place)) {
      if (++entries > mostEntries) return found
      if (!isDirectory && holdsSecret(isInside(path, cwd) ? path.slice(cwd.length + 1) : relative(cwd, path)))
        found.push(path)
    }
  return found
}

/** What is known of paths: a search comes seldom alone, and a look at the table for each file takes longer than to find it. */
const judged = new Map<string, boolean>()

function holdsSecret(path: string): boolean {
  const known = judged.get(path)
  if (known !== undefined) return known
  const holds = secretPlace(path) !== undefined
  if (judged.size >= mostEntries) judged.clear()
  judged.set(path, holds)
  return holds
}

/** The directory that a word names, or in which it begins; none for what is no path. */
function placeOf(word: Word, cwd: string): readonly string[] {
  const text = word.text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, homedir())
  const certain = word.kind === 'static' || text !== word.text || word.kind === 'glob' ? text : word.prefix
  const end = certain.search(/[*?[{$`]/)
  const path = end === -1 ? certain : certain.slice(0, certain.lastIndexOf('/', end) + 1)
  return path === '' || path.startsWith('-') ? [] : [isAbsolute(path) ? join(path) : resolve(cwd, path)]
}
