import { hostFileSystem } from '../file-system-view.ts'
import type { SandboxPolicy } from '../policy.ts'
import type { Denial } from '../sandbox.ts'
import { evaluateAccess } from './evaluate.ts'

/**
 * Why a command under `policy` could not read or write `path`; undefined when it could. For programs outside the sandbox that act for
 * somebody inside it.
 *
 * @param path absolute; symlinks are followed as far as they lead
 */
export function accessDenial(policy: SandboxPolicy, path: string, want: 'read' | 'write'): Denial | undefined {
  const evaluation = evaluateAccess(policy, { path, want }, hostFileSystem)
  if (evaluation.allowed) return undefined
  const { rule, remedy } = evaluation
  return { kind: 'path', subject: path, rule, certainty: 'proven', remedy }
}
