import { isText } from './path-keys.ts'

/**
 * Says why a change can't land because of bytes that aren't UTF-8: patches and journals are text, and could not name the file again.
 *
 * @param key the path, with one character for each byte
 * @param target the target of a symbolic link, likewise; undefined for anything else
 * @returns undefined if all of it is UTF-8
 */
export function whyNotText(key: string, target: string | undefined): string | undefined {
  if (!isText(key)) return `its name is not UTF-8; in a shell it is ${shellWord(key)}`
  if (target !== undefined && !isText(target))
    return `its link target is not UTF-8; in a shell it is ${shellWord(target)}`
  return undefined
}

/**
 * Says what can be done if some of a run's changes can't land, and the others therefore didn't land either.
 *
 * @param run the session's id
 */
export function whatHelps(run: string): string {
  return (
    `To land everything, let the run go on and rename or remove it: agent exec resume ${run} "rename …". ` +
    `agent apply ${run} . lands only the rest.`
  )
}

/** The bytes as bash reads them in `$'…'`, so that nothing in them reaches a terminal as it is. */
function shellWord(latin1: string): string {
  const escaped = latin1.replaceAll(/[^ -~]|['\\]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `$'${escaped}'`
}
