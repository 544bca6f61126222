import type { Action } from './action.ts'
import { beginning, foldersOf } from './assess-concealed.ts'
import type { Policy } from './assessment.ts'
import type { AnalysedCommand } from './commands/analyse.ts'
import type { Alarm } from './commands/facts.ts'
import { Place } from './commands/place.ts'
import { absolutePath } from './permissions/path-pattern.ts'

/** Where nothing is known about the user's private directories, any file that may contain credentials counts as one that does. */
export function asKnown(alarm: Alarm, { conceals }: Policy): Alarm {
  return alarm.kind === 'unlisted-file' && conceals === undefined ? { ...alarm, kind: 'secret' } : alarm
}

/**
 * Whether an alarm is about a file that the command doesn't find: one that its sandbox doesn't show, or one that a private view leaves out if it holds a secret
 * that isn't in the repository's history anyway.
 */
export function isOutOfView(
  { kind, file }: Alarm,
  command: AnalysedCommand,
  { cwd, workspace = cwd, sandbox, escalation }: Extract<Action, { type: 'exec' }>,
  { onView, writableRoots, hides }: Policy,
): boolean {
  if (file === undefined || sandbox === 'danger-full-access') return false
  if (kind === 'secret' && onView === true)
    if (new Place({ workspace, roots: writableRoots }, command.folders).isInView(file)) return true
  if (hides === undefined || escalation !== undefined) return false
  const [path] = beginning(file)
  return path !== undefined && foldersOf(command, cwd).every((folder) => hides(absolutePath(path, folder)))
}
