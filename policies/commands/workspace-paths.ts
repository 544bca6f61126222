import { findSensitive } from './sensitive-paths.ts'
import type { ShellWord } from './shell-word.ts'

/** Whether a word certainly names something below the working folder that isn't known to contain credentials. */
export function isWorkspacePath(word: ShellWord): boolean {
  if (word.kind === 'dynamic') return false
  const { text } = word
  if (/^[/~]/.test(text) || text.split('/').includes('..')) return false
  return findSensitive(text, word.kind === 'glob') === undefined
}
