import { openFiles, type Files } from '../files/open-files.ts'
import { SeenFiles } from '../files/seen-files.ts'
import { CommandSessions } from './command-sessions.ts'
import type { Sandbox } from '../../sandbox/index.ts'

/** What the tools of one run share and keep between calls. */
export type WorkingState = {
  /** Files as a command in the sandbox sees them. */
  readonly files: Files
  /** What the model knows of them. */
  readonly seen: SeenFiles
  /** Commands that go on after their call was answered. */
  readonly sessions: CommandSessions
}

/** Begins the working state of a run; nothing is started before it is needed. */
export function openWorkingState(sandbox: Sandbox): WorkingState {
  return { files: openFiles(sandbox), seen: new SeenFiles(), sessions: new CommandSessions() }
}

/** Ends what tools have left running, and resolves when it is gone. To be called at the end of the run. */
export async function closeWorkingState({ files, sessions }: WorkingState): Promise<void> {
  files.close()
  await sessions.close()
}
