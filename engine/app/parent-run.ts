import type { Parent } from '../agents/sub-agents.ts'
import type { Opened } from './feature.ts'

/** Returns what sub-agents need to know about the run that starts them. */
export function parentOf({ session, began, request, signal, runHandle, runPart }: Opened): Parent {
  return {
    directory: session.directory,
    workspace: () => began.workspace,
    maxTurns: request.budget?.maxTurns,
    signal,
    runHandle,
    runPart,
  }
}
