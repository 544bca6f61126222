import { cachedFileSystem } from '../cached-file-system.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { protectingPlaces } from '../protected/may-write.ts'
import { evaluateAccess } from './evaluate-access.ts'

/**
 * Returns a denial if a command under `policy` would not be allowed to read or write `path`, otherwise undefined. It is meant for programs outside
 * the sandbox that act on behalf of a command inside it.
 *
 * @param path an absolute path; symlinks in it are followed
 * @example const denial = accessDenial(parsePolicy({ mode: 'read-only', workspace: process.cwd() }), `${process.cwd()}/a.txt`, 'write')
 */
export function accessDenial(policy: SandboxPolicy, path: string, want: 'read' | 'write'): Denial | undefined {
  return accessDenials(policy)(path, want)
}

/**
 * Like `accessDenial`, but returns a function for the paths of a single decision. The host's file system is queried only once for each path, and its answers
 * are kept, so don't use the function for a later decision.
 *
 * @internal
 */
export function accessDenials(policy: SandboxPolicy): (path: string, want: 'read' | 'write') => Denial | undefined {
  const host = cachedFileSystem()
  const protectingPlace = protectingPlaces(policy, [policy.workspace, ...policy.writableRoots], host)
  return (path, want) => {
    const evaluation = evaluateAccess(policy, { path, want }, host)
    if (!evaluation.allowed) {
      const { rule, remedy } = evaluation
      return { kind: 'path', subject: path, rule, certainty: 'proven', remedy }
    }
    if (want === 'read' || policy.mode === 'danger-full-access') return undefined
    // The path may be in a git or home directory of which commands see a private version. They may write to that version, but only the user may
    // change the host's files, outside the sandbox.
    const place = protectingPlace(path)
    const remedy = { kind: 'otherwise', advice: 'make this change yourself, outside the sandbox' } as const
    return place === undefined
      ? undefined
      : { kind: 'path', subject: path, rule: `protected: ${place}`, certainty: 'proven', remedy }
  }
}
