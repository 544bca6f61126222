import { isAbsolute, join } from 'node:path'
import type { FileSystemView } from './file-system-view.ts'
import { isNamePattern } from './name-pattern.ts'
import type { SandboxPolicy } from './policy.ts'

/** The directories that the policy lets a command write to, without symlinks; none outside workspace-write. */
export function writableRoots(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  if (policy.mode !== 'workspace-write') return []
  const real = [policy.workspace, ...policy.writableRoots].map((path) => host.realPath(path))
  return [...new Set(real.filter((path) => path !== undefined))]
}

/** The single files that the policy lets a command write to, without symlinks; none outside workspace-write. */
export function writableFiles(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  if (policy.mode !== 'workspace-write') return []
  return policy.writableFiles.flatMap((path) => {
    const real = host.realPath(path)
    return real !== undefined && host.kindOf(real) === 'file' ? [real] : []
  })
}

/** What can't be read, as far as it is there now: the policy's paths, and what its patterns of names mean below every root. */
export function deniedPlaces(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  const paths = policy.deniedReads.filter((entry) => !isNamePattern(entry))
  const patterns = policy.deniedReads.filter(isNamePattern)
  if (patterns.length === 0) return paths
  const roots = [policy.workspace, ...writableRoots(policy, host), ...policy.readableRoots]
  const real = new Set(roots.map((root) => host.realPath(root)).filter((root) => root !== undefined))
  return [...paths, ...[...real].flatMap((root) => host.named(root, patterns))]
}

/** The policy's protected paths as absolute ones, below every writable root; what is protected in every directory is so in the root too. */
export function protectedBelow(roots: readonly string[], policy: SandboxPolicy): readonly string[] {
  return policy.protectedPaths
    .flatMap((path) => (path.startsWith('**/') ? [path.slice(3), path] : [path]))
    .flatMap((path) => (isAbsolute(path) ? [path] : roots.map((root) => join(root, path))))
    .filter((path) => !roots.includes(path))
}
