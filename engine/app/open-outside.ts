import {
  hostPath,
  openSandbox,
  parsePolicy,
  SandboxError,
  type Sandbox,
  type SandboxPolicy,
} from '../../sandbox/index.ts'
import type { Closing } from './closing.ts'
import type { InSession } from './stages.ts'

/** Returns a function that opens, on its first call, the sandbox for programs that are configured to run unconfined. They see the run's view if that is possible. */
export function openOutside({ sandbox, workspace, request }: InSession, closing: Closing): () => Promise<Sandbox> {
  let opened: Promise<Sandbox> | undefined
  closing.add(async () => (await opened)?.close())
  const environment = environmentOutside(sandbox.policy, request.environment)
  const views = [...sandbox.policy.views]
  const open = async (): Promise<Sandbox> => {
    const policy = { mode: 'danger-full-access', workspace, environment } as const
    try {
      return await openSandbox(parsePolicy({ ...policy, views }))
    } catch (error) {
      if (views.length === 0 || !SandboxError.is(error, 'unavailable')) throw error
      return openSandbox(parsePolicy(policy))
    }
  }
  return () => (opened ??= open())
}

/**
 * The environment for programs that are configured to run outside the sandbox. Their PATH excludes directories of the workspace, in which commands could have
 * put programs.
 */
function environmentOutside(
  { environment, workspace, writableRoots, views: [view] }: SandboxPolicy,
  host: Readonly<NodeJS.ProcessEnv>,
): SandboxPolicy['environment'] {
  const path = hostPath([workspace, ...writableRoots], environment.set['PATH'] ?? host['PATH'])
  return { ...environment, set: { ...environment.set, PATH: path, ...(view && { PORTCULLIS_VIEW: view.source }) } }
}
