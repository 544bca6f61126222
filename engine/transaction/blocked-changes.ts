import { isText } from './path-keys.ts'

/**
 * Explains why a change can't land if its path or its link target isn't valid UTF-8. Patches and journals are text, so they can't contain other
 * bytes.
 *
 * @param key the path, with one character for each byte
 * @param target the target of a symbolic link, in the same form; undefined for anything else
 * @returns undefined if both are UTF-8
 */
export function whyNotText(key: string, target: string | undefined): string | undefined {
  if (!isText(key)) return `its name is not UTF-8; in a shell, write it as ${shellWord(key)}`
  if (target !== undefined && !isText(target))
    return `its link target is not UTF-8; in a shell, write it as ${shellWord(target)}`
  return undefined
}

/** Quotes a path for bash as `$'…'`. All bytes other than printable ASCII are escaped, so that no control character reaches a terminal. */
function shellWord(latin1: string): string {
  const escaped = latin1.replaceAll(/[^ -~]|['\\]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `$'${escaped}'`
}
