import { openFiles, type Files } from '../files/open-files.ts'
import { SeenFiles } from '../files/seen-files.ts'
import type { Sandbox } from '../../sandbox/index.ts'

/** What the tools of one run share and keep between calls. */
export type WorkingState = {
  /** Files as a command in the sandbox sees them. */
  readonly files: Files
  /** What the model knows of them. */
  readonly seen: SeenFiles
}

/** Begins the working state of a run; nothing is started before it is needed. */
export function openWorkingState(sandbox: Sandbox): WorkingState {
  return { files: openFiles(sandbox), seen: new SeenFiles() }
}

/** Ends what tools have left running. To be called at the end of the run. */
export function closeWorkingState({ files }: WorkingState): void {
  files.close()
}
