import { globTest } from '../commands/file-lists.ts'
import { secretSamples, targetsSecrets } from '../commands/secret-patterns.ts'
import { literal, type ShellWord } from '../commands/shell-word.ts'

/**
 * The paths that an operand of a git command may name. A magic prefix such as `:(top)` is removed, and in `REVISION:PATH` the path is what follows a colon. A
 * pattern with git's own wildcards is replaced by the paths that it may match.
 */
export function pathsOf(word: ShellWord): readonly ShellWord[] {
  if (word.kind !== 'static') return [word]
  const text = word.text.replace(/^:(?:\([^)]*\)|[!/^]+|[0-3]:)/, '')
  // A revision or a pattern may contain colons itself, so the path may begin after any colon.
  const parts = text.split(':').slice(0, mostColons)
  return parts.flatMap((_, at) =>
    pathOf({ ...word, text: text.split(':').slice(at).join(':').replace(/\\(.)/g, '$1') }),
  )
}

const mostColons = 16

function pathOf(word: Extract<ShellWord, { kind: 'static' }>): readonly ShellWord[] {
  const path = word.text
  if (!/[*?[]/.test(path)) return [word]
  // Unlike a shell's, git's wildcards match a leading dot and slashes.
  const secret = targetsSecrets(globTest(path)) ? secretSamples.find(globTest(path)) : undefined
  return [
    { kind: 'glob', text: path.replace(/(^|\/)(?=[*?[])(?!\*+(?:\/|$))/g, '$1.') },
    ...(secret === undefined ? [] : [literal(secret)]),
  ]
}
