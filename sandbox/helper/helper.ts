import { join } from 'node:path'
import process from 'node:process'
import type { Backend } from '../backend.ts'
import { writeFileSync } from '../host-paths.ts'
import { SandboxError } from '../sandbox-error.ts'
import type { Architecture } from '../seccomp/syscalls.ts'
import { preparedHelpers } from './prepared-helpers.ts'

/**
 * Returns the architecture of this machine's processor. Throws `unavailable` if there is no helper, and therefore no `what` (the part that the
 * backend needs), for it.
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

const known = new Map<Architecture, Buffer>()

/** Returns the file of the helper, our only program that isn't JavaScript (see README.md in this folder). It is part of this program. */
export function helperFor(architecture: Architecture): Buffer {
  const bytes = known.get(architecture) ?? Buffer.from(preparedHelpers()[architecture], 'base64')
  known.set(architecture, bytes)
  return bytes
}

/**
 * Writes the helper into a directory that no command can write to. By default, the file can be executed but not read, so that no other process can
 * inspect a process that runs it (proc(5), "dumpable"). Returns its path.
 */
export function installHelper(architecture: Architecture, directory: string, mode = 0o111): string {
  const file = join(directory, 'helper')
  writeFileSync(file, helperFor(architecture), { mode })
  return file
}
