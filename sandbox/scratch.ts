import { constants } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { accessSync, realpathSync } from './host-paths.ts'
import { closedState, closedStates, isReached } from './closed-state.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { symlinksOnPath } from './symlinks-on-path.ts'
import { makeDirectories } from './make-directories.ts'
import { writableRoots } from './roots.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { Backend } from './backend.ts'

/**
 * The existing directories in which runs may keep their own data, as paths without symlinks. All of them are searched for what killed runs have left
 * behind.
 */
export function scratchBases(): readonly string[] {
  const bases = [resolve(tmpdir()), ...closedStates().map((state) => join(state, 'runs'))]
  const real = bases.map((path) => hostFileSystem.realPath(path))
  return [...new Set(real.filter((path) => path !== undefined))].filter(
    (path) => hostFileSystem.kindOf(path) === 'directory',
  )
}

/**
 * Returns a directory for this program's temporary data, and for files that control what commands can do. Commands that can write to `roots` can't
 * reach it. It is the system's temporary directory or, if that can't be used, a directory in this program's own state directory. Throws
 * `unavailable` if neither can be used.
 *
 * @internal
 */
export function closedBase(roots: readonly string[], backend: Backend): string {
  const faults: string[] = []
  for (const choose of [() => resolve(tmpdir()), () => makeBelow(closedState(roots))]) {
    try {
      // A symlink in the path may lead into a root, or be in a root itself. So the real path and the symlinks are checked too.
      const path = choose()
      const real = realpathSync(path)
      const reached = [path, real, ...symlinksOnPath(path)].find((each) => isReached(each, roots))
      if (reached !== undefined) faults.push(`commands could write to ${reached}`)
      else if (canMakeIn(real)) return real
      else faults.push(`nothing can be created in ${real}`)
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new SandboxError('unavailable', {
    backend,
    reason: `${faults.join(', ')}, but a run needs a directory of its own that commands can't write to`,
    remedy: 'Set TMPDIR to a directory that you can write to, outside the writable roots.',
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
 * Returns a directory for this program's temporary data that is out of reach of commands under this policy (see `closedBase`).
 *
 * @internal
 */
export function closedTemporaryDirectory(policy: SandboxPolicy, backend: Backend): string {
  return closedBase(writableRoots(policy, hostFileSystem), backend)
}
