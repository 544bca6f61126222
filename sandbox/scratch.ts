import { mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SandboxError } from './errors.ts'
import { hostFileSystem } from './file-system-view.ts'
import { ownState } from './own-places.ts'
import { isWithin } from './paths.ts'
import { writableRoots } from './roots.ts'
import type { SandboxPolicy } from './policy.ts'
import type { Backend } from './backend.ts'

/** Where runs may keep what is theirs, as far as it is there, without symlinks: what a killed one left is looked for in all of these. */
export function scratchBases(): readonly string[] {
  const real = [tmpdir(), fallback()].map((path) => hostFileSystem.realPath(path))
  return [...new Set(real.filter((path) => path !== undefined))]
}

/**
 * A directory for what is ours and temporary, and what decides about commands, that commands which write to these roots can't get at: the
 * system's temporary directory, or else one in our own state. Throws `unavailable` when they reach both.
 */
export function closedBase(roots: readonly string[], backend: Backend): string {
  // TMPDIR may name what is not there.
  const usual = hostFileSystem.realPath(tmpdir())
  if (usual !== undefined && !isReached(usual, roots)) return usual
  if (!isReached(fallback(), roots)) {
    mkdirSync(fallback(), { recursive: true, mode: 0o700 })
    const other = realpathSync.native(fallback())
    if (!isReached(other, roots)) return other
  }
  throw new SandboxError('unavailable', {
    backend,
    reason: `commands could write to ${usual ?? tmpdir()} and to ${fallback()}, and a run needs a directory that they can't`,
    remedy: 'Set TMPDIR to a directory outside the writable roots.',
  })
}

/** The same for a policy. */
export function closedTemporaryDirectory(policy: SandboxPolicy, backend: Backend): string {
  return closedBase(writableRoots(policy, hostFileSystem), backend)
}

function fallback(): string {
  return join(ownState(), 'runs')
}

/** Whether a root holds a directory, and does so for commands too: what lies deeper in a root is hidden from them where it is ours or the system's. */
function isReached(path: string, roots: readonly string[]): boolean {
  const hidden = ['/tmp', '/run'].map((place) => hostFileSystem.realPath(place) ?? place)
  return roots.some(
    (root) =>
      isWithin(path, root) && !hidden.some((place) => isWithin(path, place) && isWithin(place, root) && place !== root),
  )
}
