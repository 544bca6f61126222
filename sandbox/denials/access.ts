import { cachedFileSystem } from '../cached-file-system.ts'
import type { FileSystemView } from '../file-system-view.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { protectingPlace } from '../protected/may-write.ts'
import { evaluateAccess } from './evaluate-access.ts'

/**
 * Returns a denial if a command under `policy` would not be allowed to read or write `path`, otherwise undefined. It is meant for programs outside
 * the sandbox that act on behalf of a command inside it.
 *
 * @param path an absolute path; symlinks in it are followed
 * @example const denial = accessDenial(parsePolicy({ mode: 'read-only', workspace: process.cwd() }), `${process.cwd()}/a.txt`, 'write')
 */
export function accessDenial(policy: SandboxPolicy, path: string, want: 'read' | 'write'): Denial | undefined {
  const host = cachedFileSystem()
  const evaluation = evaluateAccess(policy, { path, want }, host)
  if (evaluation.allowed) return want === 'write' ? protectedDenial(policy, path, host) : undefined
  const { rule, remedy } = evaluation
  return { kind: 'path', subject: path, rule, certainty: 'proven', remedy }
}

/**
 * Denies writing to a protected path. Commands in the sandbox write to a private git directory or home directory instead. The host's files may be
 * changed only by the user, outside the sandbox.
 */
function protectedDenial(policy: SandboxPolicy, path: string, host: FileSystemView): Denial | undefined {
  if (policy.mode === 'danger-full-access') return undefined
  const place = protectingPlace(policy, path, [policy.workspace, ...policy.writableRoots], host)
  const remedy = { kind: 'otherwise', advice: 'make this change yourself, outside the sandbox' } as const
  return place === undefined
    ? undefined
    : { kind: 'path', subject: path, rule: `protected: ${place}`, certainty: 'proven', remedy }
}
