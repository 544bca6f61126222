import type { Action } from './action.ts'
import { answerForAlarm } from './approval-mode.ts'
import type { Policy } from './assessment.ts'
import type { AnalysedCommand } from './commands/analyse.ts'
import type { ShellWord } from './commands/shell-word.ts'
import type { Opinion } from './opinion.ts'
import { absolutePath } from './permissions/path-pattern.ts'

/**
 * Judges commands that name files in the user's private directories, directly or through variables and symlinks. The answer depends on the machine,
 * because the spelling of a path doesn't show where it leads.
 *
 * @param folders the folders that may be the working folder when the commands name the files
 */
export function assessConcealed(
  commands: readonly AnalysedCommand[],
  folders: readonly string[],
  action: Extract<Action, { type: 'exec' }>,
  policy: Policy,
): readonly Opinion[] {
  const { conceals } = policy
  if (conceals === undefined) return []
  const words = commands.flatMap(({ reads, trees }) => [...reads, ...trees]).flatMap(beginning)
  const paths = new Set(words.flatMap((word) => folders.map((folder) => absolutePath(word, folder))))
  return conceals([...paths]).map(({ path, place }): Opinion => {
    const reason = `Credentials are stored in ${path} (${place})`
    const decision = answerForAlarm(policy.mode, action.sandbox, { kind: 'secret', reason })
    return { decision, stage: 'secrets', reason: `${reason}.` }
  })
}

/**
 * Returns the certain beginning of a word, as a list with one element. A word that is known exactly is returned whole. Of a pattern, or a word that
 * begins with `$HOME` (which becomes `~`), the result is everything up to the last slash before the first wildcard or expansion; of any other word,
 * its `prefix`. The list is empty if nothing is certain.
 */
function beginning({ kind, text, ...word }: ShellWord): readonly string[] {
  const home = text.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, '~')
  if (kind === 'static') return [text]
  const certain = home !== text ? home : 'prefix' in word ? word.prefix : text
  const end = certain.search(/[*?[{$`]/)
  const names = end === -1 ? certain : certain.slice(0, certain.lastIndexOf('/', end) + 1)
  return names === '' ? [] : [names]
}
