import type { Parent } from '../agents/sub-agents.ts'
import type { Opened } from './feature.ts'

/** A run as those see it that work for it. */
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
