import type { Parent } from '../agents/sub-agents.ts'
import type { Opened } from './feature.ts'

/** A run from the point of view of its sub-agents. */
export function parentOf({ session, now, request, signal, runHandle, runPart }: Opened): Parent {
  return {
    directory: session.directory,
    workspace: () => now().workspace,
    maxTurns: request.budget?.maxTurns,
    signal,
    runHandle,
    runPart,
  }
}
