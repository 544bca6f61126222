import { accessSync, constants, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { closedState, closedStates, isReached } from './closed-state.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { symlinksOnPath } from './symlinks-on-path.ts'
import { makeDirectories } from './make-directories.ts'
import { writableRoots } from './roots.ts'
import type { SandboxPolicy } from './policy.ts'
import type { Backend } from './backend.ts'

/** Where runs may keep what is theirs, as far as it is there, without symlinks: what a killed one left is looked for in all of these. */
export function scratchBases(): readonly string[] {
  const bases = [resolve(tmpdir()), ...closedStates().map((state) => join(state, 'runs'))]
  const real = bases.map((path) => hostFileSystem.realPath(path))
  return [...new Set(real.filter((path) => path !== undefined))].filter(
    (path) => hostFileSystem.kindOf(path) === 'directory',
  )
}

/**
 * A directory for what is ours and temporary, and what decides about commands, that commands which write to these roots can't get at: the
 * system's temporary directory, or else one in our own state. Throws `unavailable` when they reach both.
 */
export function closedBase(roots: readonly string[], backend: Backend): string {
  const faults: string[] = []
  for (const choose of [() => resolve(tmpdir()), () => makeBelow(closedState(roots))]) {
    try {
      // It may be a link, also into a root.
      const path = choose()
      const real = realpathSync.native(path)
      const reached = [path, real, ...symlinksOnPath(path)].find((each) => isReached(each, roots))
      if (reached !== undefined) faults.push(`commands could write to ${reached}`)
      else if (canMakeIn(real)) return real
      else faults.push(`nothing can be made in ${real}`)
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new SandboxError('unavailable', {
    backend,
    reason: `${faults.join(', ')}, and a run needs a directory of its own that commands can't write to`,
    remedy: 'Set TMPDIR to a directory that can be written, outside the writable roots.',
  })
}

function makeBelow(state: string): string {
  const path = join(state, 'runs')
  makeDirectories(path)
  return path
}

function canMakeIn(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return hostFileSystem.kindOf(path) === 'directory'
  } catch {
    return false
  }
}

/**
 * The same for a policy.
 *
 * @internal
 */
export function closedTemporaryDirectory(policy: SandboxPolicy, backend: Backend): string {
  return closedBase(writableRoots(policy, hostFileSystem), backend)
}
