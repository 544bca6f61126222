import { sharedMemory } from '../limits/shared-memory.ts'
import { list, type Value } from './plan.ts'

/** Identifies a file regardless of its name. While the file is held open, no other file has the same two numbers. */
export type Identity = { readonly device: bigint; readonly inode: bigint }

/** A path that is opened component by component, without following symlinks. */
type Place = {
  /** An absolute path that contained no symlinks when the step was planned. */
  readonly path: string
  /** The entry that is expected at the path. It is left out only if no entry can be there yet, or if any entry is acceptable. */
  readonly identity?: Identity | undefined
  /** What to create if the path doesn't exist. With `nothing`, the step is skipped; if this field is absent, the step fails. */
  readonly create?: 'directory' | 'file' | 'nothing' | undefined
}

/** The flags to set and to clear on a mount (mount_setattr(2)). With `recursive`, they are also changed on all mounts below that mount. */
type MountChange = { readonly set?: number; readonly clear?: number; readonly recursive?: boolean }

/** One step in building the file system that a command sees. Steps are carried out in order. The first one that fails ends the program. */
export type Step = (
  | { readonly do: 'hold'; readonly as: string }
  /** Copies the entry together with its mounts. A later step, which refers to the copy by the name `as`, can mount it once. */
  | { readonly do: 'take'; readonly as: string }
  | {
      readonly do: 'mount'
      /**
       * What to mount. `itself`: a copy of the entry at the path. `held`: a copy of a held entry. `taken`: a copy that an earlier step took.
       * `memory`: an empty file system in memory. `shared-memory`: a file system in memory to which everybody may write until it reaches its size
       * limit.
       */
      readonly what: 'itself' | 'memory' | 'shared-memory' | { readonly held: string } | { readonly taken: string }
    }
  /**
   * Replaces a held directory by an overlay of it, which a later step can mount once as one that was `taken`. What is written is stored in the
   * directories `upper` and `work` at the path. Where no overlay is possible, it is a copy with the flags of `change`; without `change`, the step fails.
   */
  | { readonly do: 'cover'; readonly held: string }
  /** Changes the flags of the mount at the path. */
  | { readonly do: 'change' }
  /** Checks that a mount exists, and whether it is read-only. This is for a program that checks mounts made by a different program. */
  | { readonly do: 'expect'; readonly readOnly: boolean }
) &
  Place & { readonly change?: MountChange }

/** The flags of mount_setattr(2) that steps set or clear. */
export const mountFlags = { readOnly: 1, noSetId: 2, noDevices: 4, noPrograms: 8 } as const

/** The kinds of steps, and the values of `create`, with the numbers that `steps.h` and `walk.h` give them. */
const kinds = {
  hold: 1,
  take: 2,
  itself: 3,
  held: 4,
  taken: 5,
  memory: 6,
  sharedMemory: 7,
  change: 8,
  cover: 9,
  writable: 10,
  readOnly: 11,
} as const
const creations = { none: 0, directory: 1, file: 2, nothing: 3 } as const

/** Encodes steps for a plan. */
export function encodeSteps(steps: readonly Step[]): readonly Value[] {
  // A slot keeps a descriptor for later steps. Slots are counted from 1; 0 stands for none.
  const slots = new Map<string, number>()
  const slotOf = (name: string | undefined): number => {
    if (name === undefined) return 0
    const known = slots.get(name) ?? slots.size + 1
    slots.set(name, known)
    return known
  }
  const records = steps.map((step): readonly Value[] => {
    const { path, identity, create, change } = step
    const [kind, name] = kindOf(step)
    return [
      kind,
      creations[create ?? 'none'],
      identity === undefined ? 0 : 1,
      BigInt.asUintN(64, identity?.device ?? 0n),
      BigInt.asUintN(64, identity?.inode ?? 0n),
      slotOf(name),
      change?.recursive === true ? 1 : 0,
      change?.set ?? 0,
      change?.clear ?? 0,
      path,
    ]
  })
  return [`${sharedMemory.bytes}`, `${sharedMemory.files}`, slots.size, ...list(records)]
}

function kindOf(step: Step): readonly [number, string?] {
  switch (step.do) {
    case 'hold':
      return [kinds.hold, step.as]
    case 'take':
      return [kinds.take, step.as]
    case 'cover':
      return [kinds.cover, step.held]
    case 'change':
      return [kinds.change]
    case 'expect':
      return [step.readOnly ? kinds.readOnly : kinds.writable]
    case 'mount':
      if (step.what === 'itself' || step.what === 'memory') return [kinds[step.what]]
      if (step.what === 'shared-memory') return [kinds.sharedMemory]
      return 'held' in step.what ? [kinds.held, step.what.held] : [kinds.taken, step.what.taken]
    default:
      return step satisfies never
  }
}
