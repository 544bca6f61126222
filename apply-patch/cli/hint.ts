import { statSync } from 'node:fs'
import { editDistance } from '../text/edit-distance.ts'
import { shellQuote } from '../text/shell-quote.ts'

/** A guess at what the user meant by a single argument that isn't a patch; undefined if there is no guess. */
export function hintFor(argument: string): string | undefined {
  if (argument.includes('\n') || argument.length > 4096) return undefined
  if (isFile(argument)) return `"${argument}" is a file; to apply its content: apply-patch < ${shellQuote(argument)}`
  const [near] = ['undo', 'recover', 'prune', 'help'].filter((name) => editDistance(name, argument.toLowerCase()) <= 2)
  return near === undefined ? undefined : `did you mean: apply-patch ${near}`
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch {
    // If the argument isn't a possible path, or the path can't be accessed, it doesn't count as a file.
    return false
  }
}
