import type { Variable } from '../machine-code/machine-instructions.ts'
import { words, type Memory } from '../machine-code/make-program.ts'
import { encodeText } from '../path-bytes.ts'
import { AT_EMPTY_PATH, AT_RECURSIVE } from '../machine-code/kernel.ts'

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
  /** Changes the flags of the mount at the path. */
  | { readonly do: 'change' }
  /** Checks that a mount exists, and whether it is read-only. This is for a program that checks mounts made by a different program. */
  | { readonly do: 'expect'; readonly readOnly: boolean }
) &
  Place & { readonly change?: MountChange }

/** The flags of mount_setattr(2) that steps set or clear. */
export const mountFlags = { readOnly: 1, noSetId: 2, noDevices: 4, noPrograms: 8 } as const

/** The kinds of records that `layOutSteps` writes, and the numbers by which the programs that carry them out recognize them. */
export const kinds = {
  end: 0,
  hold: 1,
  take: 2,
  itself: 3,
  held: 4,
  taken: 5,
  memory: 6,
  change: 7,
  writable: 8,
  readOnly: 9,
  sharedMemory: 10,
} as const

/** The offsets, in bytes, of the fields of a record that `layOutSteps` writes. */
export const fields = {
  kind: 0,
  size: 8,
  create: 16,
  hasIdentity: 24,
  device: 32,
  inode: 40,
  /** The address of the variable that keeps a descriptor for a later step. */
  slot: 48,
  changeFlags: 56,
  /** A `struct mount_attr`: set, clear, propagation, user namespace. */
  change: 64,
  text: 96,
  textLength: 104,
  count: 112,
  components: 120,
} as const

const MS_PRIVATE = 0x4_0000
/** The numbers that stand for the values of `create` in a record. */
export const creations = { directory: 1, file: 2, nothing: 3 } as const

/** Lays out the records of `steps`, followed by an end record, in a program's memory. Returns the address of the first record. */
export function layOutSteps(memory: Memory, steps: readonly Step[]): number {
  const slots = new Map<string, Variable>()
  const texts = new Map<string, number>()
  const addressOf = (text: string): number => {
    const known = texts.get(text) ?? memory.bytes(Buffer.concat([encodeText(text), Buffer.of(0)]))
    texts.set(text, known)
    return known
  }
  const slot = (name: string): number => {
    const known = slots.get(name) ?? memory.variable(-1)
    slots.set(name, known)
    return known.address
  }
  const records = steps.map((step) => record(step, slot, addressOf))
  return memory.bytes(Buffer.concat([...records, words(kinds.end)]))
}

/** Returns a key for a list of steps. If two keys are equal, so are the steps. */
export function keyOfSteps(steps: readonly Step[]): string {
  let key = ''
  for (const step of steps) {
    const { path, identity, create, change } = step
    const [kind, name] = kindOf(step)
    // The separator is NUL, because no path contains one.
    key += `${kind} ${create} ${change?.set} ${change?.clear} ${change?.recursive} ${identity?.device}:${identity?.inode}\0${path}\0${name}\0`
  }
  return key
}

function record(step: Step, slot: (name: string) => number, addressOf: (text: string) => number): Buffer {
  const { path, identity, create, change } = step
  const components = path.split('/').filter((name) => name !== '')
  const [kind, name] = kindOf(step)
  // Mounts that the host makes later must not appear in the file system of a running command.
  const propagation = path === '/' && change?.recursive === true ? MS_PRIVATE : 0
  const buffer = words(
    kind,
    fields.components + 8 * components.length,
    create === undefined ? 0 : creations[create],
    identity === undefined ? 0 : 1,
    0,
    0,
    name === undefined ? 0 : slot(name),
    AT_EMPTY_PATH + (change?.recursive === true ? AT_RECURSIVE : 0),
    change?.set ?? 0,
    change?.clear ?? 0,
    propagation,
    0,
    addressOf(path),
    encodeText(path).length,
    components.length,
    ...components.map(addressOf),
  )
  buffer.writeBigUInt64LE(BigInt.asUintN(64, identity?.device ?? 0n), fields.device)
  buffer.writeBigUInt64LE(BigInt.asUintN(64, identity?.inode ?? 0n), fields.inode)
  return buffer
}

function kindOf(step: Step): readonly [number, string?] {
  switch (step.do) {
    case 'hold':
      return [kinds.hold, step.as]
    case 'take':
      return [kinds.take, step.as]
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
