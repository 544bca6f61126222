import process from 'node:process'
import { SandboxError } from './errors.ts'
import { finishReviews } from './finish-reviews.ts'
import { refuseKernelPlaces } from './kernel-places.ts'
import type { NetworkOptions } from './network/proxy.ts'
import type { SandboxPolicy } from './policy.ts'
import { requireDirectory } from './program.ts'
import type { Backend } from './backend.ts'
import type { Denial, Sandbox } from './sandbox.ts'

/** Which sandbox, where there is a choice. */
export type SandboxOptions = {
  /** Default: the platform's own, or none for danger-full-access. */
  readonly backend?: Backend | undefined
  /** The image of the docker backend: with /bin/sh, and the tools that commands need. */
  readonly image?: string | undefined
  /** For the proxy of a network allow-list. */
  readonly network?: NetworkOptions | undefined
  /** Hears what `finishReviews` found, which comes first. */
  readonly onLeftover?: ((denial: Denial) => void) | undefined
}

/**
 * Opens the sandbox that enforces `policy`, or the `backend` asked for. Throws `SandboxError`: `unavailable` when that one can't
 * enforce all of the policy here (there is no falling back to less), `missing-directory` when a root isn't there, `invalid-policy` when one
 * is the kernel's own, `unreviewed` where a killed run's review can't be finished.
 */
export async function openSandbox(policy: SandboxPolicy, options: SandboxOptions = {}): Promise<Sandbox> {
  requireDirectory(policy.workspace, 'workspace')
  if (policy.mode === 'workspace-write') {
    for (const root of policy.writableRoots) requireDirectory(root, 'writable root')
  }
  if (policy.mode !== 'danger-full-access') refuseKernelPlaces(policy)
  const backend = options.backend ?? defaultBackend(policy)
  if (backend !== 'bubblewrap' && backend !== 'docker') requireNoAllowlist(policy, backend)
  for (const denial of await finishReviews()) options.onLeftover?.(denial)
  switch (backend) {
    case 'bubblewrap':
      requireConfining(policy, backend)
      return (await import('./bubblewrap/open.ts')).openBubblewrap(policy, options.network)
    case 'docker':
      requireConfining(policy, backend)
      return (await import('./docker/open.ts')).openDocker(policy, options.image, options.network)
    case 'unconfined':
    case 'external':
      return (await import('./unconfined/open.ts')).openUnconfined(policy, backend)
    case 'seatbelt':
      requireConfining(policy, backend)
      return (await import('./seatbelt/open.ts')).openSeatbelt(policy)
    default:
      return backend satisfies never
  }
}

function requireConfining(policy: SandboxPolicy, backend: Backend): void {
  if (policy.mode !== 'danger-full-access') return
  throw new SandboxError('unavailable', {
    backend,
    reason: 'the mode danger-full-access asks for no confinement',
    remedy: 'Choose read-only or workspace-write, or the backend unconfined.',
  })
}

/** The backend that a policy gets when none is named. */
export function defaultBackend(policy: SandboxPolicy): Backend {
  if (policy.mode === 'danger-full-access') return 'unconfined'
  return process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap'
}

/** An allow-list needs a network of the command's own with our proxy as its only way out. */
function requireNoAllowlist(policy: SandboxPolicy, backend: Backend): void {
  if (policy.network.mode !== 'allowlist') return
  throw new SandboxError('unavailable', {
    backend,
    reason: 'it has no network allow-list',
    remedy: 'Use the bubblewrap or docker backend on Linux, or the network mode off.',
  })
}
