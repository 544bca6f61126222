import { globTest } from '../commands/file-lists.ts'
import { secretSamples, targetsSecrets } from '../commands/sensitive-places.ts'
import { literal, type ShellWord } from '../commands/shell-word.ts'

/** The paths that an operand names, or the possible ones of a pattern: in a revision, after a magic prefix, or in git's own wildcards. */
export function pathsOf(word: ShellWord): readonly ShellWord[] {
  if (word.kind !== 'static') return [word]
  const text = word.text.replace(/^:(?:\([^)]*\)|[!/^]+|[0-3]:)/, '')
  // A revision may have colons of its own, and so may a pattern.
  const parts = text.split(':').slice(0, mostColons)
  return parts.flatMap((_, at) =>
    pathOf({ ...word, text: text.split(':').slice(at).join(':').replace(/\\(.)/g, '$1') }),
  )
}

const mostColons = 16

function pathOf(word: Extract<ShellWord, { kind: 'static' }>): readonly ShellWord[] {
  const path = word.text
  if (!/[*?[]/.test(path)) return [word]
  // Unlike a shell's, git's wildcards match a leading dot, and slashes.
  const secret = targetsSecrets(globTest(path)) ? secretSamples.find(globTest(path)) : undefined
  return [
    { kind: 'glob', text: path.replace(/(^|\/)(?=[*?[])(?!\*+(?:\/|$))/g, '$1.') },
    ...(secret === undefined ? [] : [literal(secret)]),
  ]
}
