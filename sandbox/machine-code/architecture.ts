import process from 'node:process'
import { SandboxError } from '../sandbox-error.ts'
import type { Backend } from '../backend.ts'
import type { Architecture } from './machine-instructions.ts'

/**
 * Returns the architecture of this machine's processor. Throws `unavailable` if we can't make `what` (the program or filter that the backend needs)
 * for it.
 */
export function requireArchitecture(backend: Backend, what: string): Architecture {
  const { platform, arch } = process
  if (platform === 'linux' && (arch === 'x64' || arch === 'arm64')) return arch
  throw new SandboxError('unavailable', {
    backend,
    reason: `there is no ${what} for ${platform} on ${arch}`,
    remedy: `Use ${backend === 'docker' ? '' : 'the docker backend, or '}Linux on an x64 or arm64 processor.`,
  })
}
