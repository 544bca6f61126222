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
 */
export function assessConcealed(
  commands: readonly AnalysedCommand[],
  action: Extract<Action, { type: 'exec' }>,
  policy: Policy,
): readonly Opinion[] {
  const { conceals, hides } = policy
  if (conceals === undefined) return []
  const paths = new Set(
    commands.flatMap((command) => {
      const words = [...command.reads, ...command.trees].flatMap(beginning)
      const folders = foldersOf(command, action.cwd)
      return words.flatMap((word) => folders.map((folder) => absolutePath(word, folder)))
    }),
  )
  const isHidden = action.sandbox !== 'danger-full-access' && action.escalation === undefined ? hides : undefined
  const found = conceals([...paths]).filter(({ path }) => isHidden?.(path) !== true)
  return found.map(({ path, place }): Opinion => {
    const reason = `Credentials are stored in ${path} (${place})`
    const decision = answerForAlarm(policy.mode, action.sandbox, { kind: 'secret', reason })
    return { decision, stage: 'secrets', reason: `${reason}.` }
  })
}

/** The folders in which a command may run. One that can't be known is replaced by the folder in which the line starts. */
export function foldersOf({ folders }: AnalysedCommand, cwd: string): readonly string[] {
  return [...new Set(folders.map((folder) => (folder === undefined ? cwd : absolutePath(folder, cwd))))]
}

/**
 * Returns the certain beginning of a word, as a list with one element. A word that is known exactly is returned whole. Of a pattern, or a word that
 * begins with `$HOME` (which becomes `~`), the result is everything up to the last slash before the first wildcard or expansion; of any other word,
 * its `prefix`. The list is empty if nothing is certain.
 */
export function beginning({ kind, text, ...word }: ShellWord): readonly string[] {
  const home = text.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, '~')
  if (kind === 'static') return [text]
  const certain = home !== text ? home : 'prefix' in word ? word.prefix : text
  const end = certain.search(/[*?[{$`]/)
  const names = end === -1 ? certain : certain.slice(0, certain.lastIndexOf('/', end) + 1)
  return names === '' ? [] : [names]
}
