import { homedir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { View } from '../../sandbox/index.ts'
import { analyseCommand, secretPlace, type AnalysedCommand } from '../../policies/index.ts'
import { isInside } from '../core/directories-between.ts'
import { pathsBelow } from '../core/paths-below.ts'

type Word = AnalysedCommand['words'][number]

/** Matches `/`, and paths in system directories, where no project stores secrets and a search may take a long time. */
const ofTheMachine = /^\/(?:usr|bin|sbin|lib\w*|proc|sys|dev|nix)?(?:\/|$)/
/** The maximum number of entries to examine. The output of a larger search would be of little use to a model anyway. */
const mostEntries = 100_000

/**
 * Finds files whose names suggest that they contain secrets, in the directories that a command searches without naming each file. For example, `grep -r KEY .`
 * would also read `.env`, although nobody approved that. Returns none for a command that names each file it reads.
 *
 * @param argv a command that is proven to only read
 * @param cwd the absolute path of its working directory
 * @param views the views that it is shown, which leave out such files
 */
export function searchedSecrets(argv: readonly string[], cwd: string, views: readonly View[]): readonly string[] {
  const { commands } = analyseCommand(argv, cwd)
  if (!commands.some(({ reads, trees }) => trees.length > 0 || reads.some(({ kind }) => kind !== 'static'))) return []
  const named = commands.flatMap(({ words }) => words.slice(1)).flatMap((word) => placeOf(word, cwd))
  const places = [...new Set([cwd, ...named])].filter(
    (place) => !ofTheMachine.test(place) && !views.some(({ path }) => isInside(place, path)),
  )
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

/**
 * For each path, whether it may contain secrets. The answers are cached, because searches often follow one another, and checking a file takes longer
 * than finding it.
 */
const judged = new Map<string, boolean>()

function holdsSecret(path: string): boolean {
  const known = judged.get(path)
  if (known !== undefined) return known
  const holds = secretPlace(path) !== undefined
  if (judged.size >= mostEntries) judged.clear()
  judged.set(path, holds)
  return holds
}

/**
 * Returns the absolute path that a word names, as a list with one element. If the word contains a wildcard or a variable, the path ends at the last
 * slash before it. The list is empty if nothing remains, or if the word is an option.
 */
function placeOf(word: Word, cwd: string): readonly string[] {
  const text = word.text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, homedir())
  const certain = word.kind === 'static' || text !== word.text || word.kind === 'glob' ? text : word.prefix
  const end = certain.search(/[*?[{$`]/)
  const path = end === -1 ? certain : certain.slice(0, certain.lastIndexOf('/', end) + 1)
  return path === '' || path.startsWith('-') ? [] : [isAbsolute(path) ? join(path) : resolve(cwd, path)]
}
