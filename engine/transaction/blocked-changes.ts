import type { Entry } from './find-differences.ts'
import { isText } from './path-keys.ts'

type Blockable = {
  readonly key: string
  readonly after: Entry
  /** Whether this program writes the final message there. */
  readonly isDelivered: boolean
  /** Whether the view leaves out the user's own entry at the path, or on the way to it. */
  readonly isHidden: boolean
  /** Whether the change replaces a directory in which the view leaves out something of the user's. */
  readonly replacesHidden: boolean
}

/** Explains why a change stays in the view; undefined if it can land. */
export function whyBlocked({ key, after, isDelivered, isHidden, replacesHidden }: Blockable): string | undefined {
  if (isHidden) return 'your own file of this name was not shown to the run, and stays as it is'
  if (replacesHidden)
    return 'it would replace a directory that contains something of your own that was not shown to the run'
  if (isDelivered) return 'the final message is written there'
  return whyNotText(key, after.kind === 'link' ? after.target : undefined)
}

/**
 * Explains why a change can't land if its path or its link target isn't valid UTF-8. Patches and journals are text, so they can't contain other
 * bytes.
 *
 * @param key the path, with one character for each byte
 * @param target the target of a symbolic link, in the same form; undefined for anything else
 * @returns undefined if both are UTF-8
 */
function whyNotText(key: string, target: string | undefined): string | undefined {
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
