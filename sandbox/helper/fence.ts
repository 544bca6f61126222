import { list, type Value } from './plan.ts'
import type { Identity } from './steps.ts'

/**
 * The second fence around a command (landlock(7)): outside of `roots`, the kernel refuses the handled kinds of access, whatever is mounted there. The
 * numbers are bits as in linux/landlock.h. The helper leaves out what the kernel doesn't know, and roots that don't exist.
 */
export type Fence = {
  /** Kinds of access to files (`LANDLOCK_ACCESS_FS_…`) that are refused except below roots that allow them. */
  readonly handled: number
  /** What the command can't reach outside of its own processes (`LANDLOCK_SCOPE_…`). */
  readonly scoped: number
  readonly roots: readonly FenceRoot[]
}

/** A place to which the fence allows access, whatever is mounted below it. */
export type FenceRoot = {
  /** An absolute path without symlinks, as the command sees it. */
  readonly path: string
  readonly accesses: number
  /** The entry that must be at the path. If another one is mounted there, nothing starts. It is left out only for what the sandbox itself makes. */
  readonly identity?: Identity | undefined
}

/** No fence. */
export const noFence: Fence = { handled: 0, scoped: 0, roots: [] }

/** Encodes a fence for a plan. */
export function encodeFence({ handled, scoped, roots }: Fence): readonly Value[] {
  return [handled, scoped, ...list(roots.map(encodeRoot))]
}

function encodeRoot({ path, accesses, identity }: FenceRoot): readonly Value[] {
  const { device = 0n, inode = 0n } = identity ?? {}
  return [path, accesses, identity === undefined ? 0 : 1, BigInt.asUintN(64, device), BigInt.asUintN(64, inode)]
}
