import process from 'node:process'
import { SandboxError } from './errors.ts'
import type { SandboxPolicy } from './policy.ts'
import { requireDirectory } from './program.ts'
import type { Backend, Sandbox } from './sandbox.ts'

/**
 * Opens the sandbox that enforces `policy`, or the `backend` asked for. Throws `SandboxError`: `unavailable` when that one can't
 * enforce all of the policy here (there is no falling back to less), `missing-directory` when a root isn't there.
 */
export async function openSandbox(
  policy: SandboxPolicy,
  options: { readonly backend?: Backend | undefined } = {},
): Promise<Sandbox> {
  requireDirectory(policy.workspace, 'workspace')
  if (policy.mode === 'workspace-write') {
    for (const root of policy.writableRoots) requireDirectory(root, 'writable root')
  }
  const backend = options.backend ?? defaultBackend(policy)
  switch (backend) {
    case 'bubblewrap':
      if (policy.mode === 'danger-full-access') {
        throw new SandboxError('unavailable', {
          backend,
          reason: 'the mode danger-full-access asks for no confinement',
          remedy: 'Choose read-only or workspace-write, or the backend unconfined.',
        })
      }
      return (await import('./bubblewrap/open.ts')).openBubblewrap(policy)
    case 'unconfined':
      return (await import('./unconfined/open.ts')).openUnconfined(policy)
    case 'docker':
    case 'seatbelt':
      throw new SandboxError('unavailable', {
        backend,
        reason: 'this version has no such backend',
        remedy: 'Use the bubblewrap backend on Linux.',
      })
    default:
      return backend satisfies never
  }
}

/** The backend that a policy gets when none is named. */
export function defaultBackend(policy: SandboxPolicy): Backend {
  if (policy.mode === 'danger-full-access') return 'unconfined'
  return process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap'
}
