import type { Change, Content, FileState, Place } from '../change-set.ts'
import type { Tree } from '../files/index.ts'

/** The planned content of a path: its state after the operations that have been planned so far. It exists only in memory. */
type Virtual =
  /** `large`: a file that is too large for a patch to change. */
  | { readonly type: 'absent' | 'directory' | 'other' | 'large' }
  | { readonly type: 'symlink'; readonly target: string; readonly movedFrom?: Place }
  | {
      readonly type: 'file'
      readonly content: Content
      readonly mode: number | undefined
      readonly owner: { readonly uid: number; readonly gid: number } | undefined
      readonly movedFrom?: Place
    }

/** `current`: undefined if no operation has changed the path. */
type Entry = { readonly place: Place; readonly before: FileState; current: Virtual | undefined; movedTo?: Place }

/** A view of the tree as it will be after the operations that have been planned so far. With it, later operations see the results of earlier ones. */
export class Overlay {
  readonly #tree: Tree
  readonly #entries = new Map<string, Entry>()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  /** The place of the file to which a path leads; links are followed. @throws PathError */
  locate(path: string): Place {
    return this.#tree.locate(withoutFinalSlash(path), this.#isGone)
  }

  /** The place of the directory entry at a path. If the entry is a link, this is the place of the link itself and not of its target. @throws PathError */
  locateEntry(path: string): Place {
    return this.#tree.locateEntry(withoutFinalSlash(path), this.#isGone)
  }

  /** The planned state of a place. @throws ReadError */
  get(place: Place): Virtual {
    return currentOf(this.#entry(place))
  }

  set(place: Place, current: Virtual): void {
    this.#entry(place).current = current
  }

  /** Marks a file as absent because it is moved to a different place. */
  moveAway(place: Place, to: Place): void {
    const entry = this.#entry(place)
    entry.current = { type: 'absent' }
    entry.movedTo = to
  }

  /** The planned bytes of a file, in one piece. Undefined if there is no regular file at this place. */
  bytes(place: Place): Buffer | undefined {
    const current = this.get(place)
    if (current.type !== 'file') return undefined
    const [first] = current.content
    if (current.content.length === 1 && first !== undefined) {
      return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    }
    return Buffer.concat(current.content)
  }

  /** The changes of all files, in the order in which the patch first names the files. */
  changes(): readonly Change[] {
    return [...this.#entries.values()].flatMap((entry): readonly Change[] => {
      const { place, before, current, movedTo } = entry
      if (current === undefined) return []
      switch (current.type) {
        case 'absent':
          return before.type === 'absent' ? [] : [{ type: 'remove', place, before, ...(movedTo && { movedTo }) }]
        case 'file': {
          const { content, mode, owner, movedFrom } = current
          if (isUnchanged(current, before)) return []
          return [{ type: 'write', place, before, content, mode, owner, ...(movedFrom && { movedFrom }) }]
        }
        case 'symlink': {
          const { target, movedFrom } = current
          if (before.type === 'symlink' && before.target === target && movedFrom === undefined) return []
          const link = { content: [], mode: undefined, owner: undefined, symlink: target }
          return [{ type: 'write', place, before, ...link, ...(movedFrom && { movedFrom }) }]
        }
        default:
          return []
      }
    })
  }

  readonly #isGone = (key: string): boolean => {
    const entry = this.#entries.get(key)
    return entry !== undefined && currentOf(entry).type === 'absent'
  }

  #entry(place: Place): Entry {
    const known = this.#entries.get(place.key)
    if (known !== undefined) return known
    const before = this.#tree.read(place, this.#isGone)
    const entry: Entry = { place, before, current: undefined }
    this.#entries.set(place.key, entry)
    return entry
  }
}

function currentOf({ current, before }: Entry): Virtual {
  return current ?? virtual(before)
}

/** Whether a file still has the very bytes that were read, and not only equal ones: a file that is replaced by an equal one counts as changed. */
function isUnchanged({ content, mode }: Virtual & { type: 'file' }, before: FileState): boolean {
  return before.type === 'file' && content.length === 1 && content[0] === before.bytes && mode === before.mode
}

function virtual(state: FileState): Virtual {
  switch (state.type) {
    case 'file':
      return { type: 'file', content: [state.bytes], mode: state.mode, owner: { uid: state.uid, gid: state.gid } }
    case 'symlink':
      return { type: 'symlink', target: state.target }
    case 'unread':
      return { type: 'large' }
    default:
      return { type: state.type }
  }
}

/** Removes the slashes at the end of a path, because a patch is about files. Codex, too, reads `name/` as `name`. */
function withoutFinalSlash(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return end === 0 ? path : path.slice(0, end)
}
