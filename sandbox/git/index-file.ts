import process from 'node:process'
import { encodeText } from '../path-bytes.ts'
import { isSafePath } from './safe-path.ts'

/** One entry of git's index (gitformat-index(5)). Paths have one character for each byte, so that they have the order of the index. */
export type IndexEntry = {
  readonly path: string
  readonly mode: number
  readonly stage: number
  readonly oid: string
  /** The forty bytes that contain the file's metadata, as git last recorded it. */
  readonly stat: Buffer
  readonly assumeValid: boolean
  readonly skipWorktree: boolean
  readonly intentToAdd: boolean
}

/** The position of an index's first entry, and the length of the metadata with which each entry begins (gitformat-index(5)). */
export const [firstEntryAt, statBytes] = [12, 40]
/** The offsets of the mode, the owner and the size in an entry's metadata. */
const [modeAt, ownerAt, sizeAt] = [24, 28, 36]
const modes: ReadonlySet<number> = new Set([0o100644, 0o100755, 0o120000, 0o160000, 0o040000])

/**
 * Reads an index byte by byte. Returns undefined if the index isn't clearly valid, refers to another file (a split index), or contains a path that
 * git would never add. Git trusts its index, so a checkout would write to such a path.
 *
 * @internal
 */
export function parseIndex(content: Buffer, oidBytes: number): readonly IndexEntry[] | undefined {
  if (content.length < firstEntryAt + oidBytes || content.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const [version, count] = [content.readUInt32BE(4), content.readUInt32BE(8)]
  const end = content.length - oidBytes
  if (version < 2 || version > 4 || count > content.length / (statBytes + oidBytes)) return undefined
  const sum = content.subarray(end)
  if (sum.some((byte) => byte !== 0) && !sum.equals(checksum(content.subarray(0, end), oidBytes))) return undefined
  const entries: IndexEntry[] = []
  let [at, previous, safe] = [firstEntryAt, '', '']
  for (let index = 0; index < count; index += 1) {
    const start = at
    const layout = layoutAt(content, start, oidBytes, previous.length)
    if (layout === undefined) return undefined
    const { flags, more, kept, pathAt, pathEnd } = layout
    const path = previous.slice(0, kept) + content.toString('latin1', pathAt, pathEnd)
    at = layout.next
    const stage = (flags >> 12) & 3
    const last = entries.at(-1)
    const mode = content.readUInt32BE(start + modeAt)
    if (last !== undefined && (path < last.path || (path === last.path && stage <= last.stage))) return undefined
    // Entries are sorted, so the directory of an entry was often checked with the entry before it. Then only the rest of the path is checked.
    const rest = path.startsWith(safe) ? path.slice(safe.length) : path
    if (!modes.has(mode) || !isSafePath(mode === 0o040000 ? rest.replace(/\/$/, '') : rest)) return undefined
    if (rest === path || rest.includes('/')) safe = path.slice(0, path.lastIndexOf('/') + 1)
    previous = path
    entries.push({
      path,
      mode,
      stage,
      oid: content.toString('hex', start + statBytes, start + statBytes + oidBytes),
      stat: content.subarray(start, start + statBytes),
      assumeValid: (flags & 0x8000) !== 0,
      skipWorktree: (more & 0x4000) !== 0,
      intentToAdd: (more & 0x2000) !== 0,
    })
  }
  // Of the extensions, only the one for a split index matters. All others are ignored.
  if (content.toString('latin1', at, at + 4) === 'link') return undefined
  return holdsOneOf(entries) ? undefined : entries
}

/** An entry of an index: its flags, and positions in the index, namely those of its path (start and end) and of the next entry. */
type EntryLayout = {
  readonly flags: number
  /** The additional flags that only extended entries have; 0 for all other entries. */
  readonly more: number
  /** How many bytes of this entry's path are taken from the beginning of the previous entry's path. */
  readonly kept: number
  readonly pathAt: number
  readonly pathEnd: number
  readonly next: number
}

/**
 * Finds the parts of the index entry that begins at `start`.
 * @param previous the length of the previous entry's path
 * @returns undefined if the entry is incomplete or invalid
 */
export function layoutAt(content: Buffer, start: number, oidBytes: number, previous: number): EntryLayout | undefined {
  const [version, end] = [content.readUInt32BE(4), content.length - oidBytes]
  let at = start + statBytes + oidBytes + 2
  if (at + 2 > end) return undefined
  const flags = content.readUInt16BE(at - 2)
  const extended = (flags & 0x4000) !== 0
  if (extended && version === 2) return undefined
  const more = extended ? content.readUInt16BE(at) : 0
  if (extended) at += 2
  let kept = 0
  if (version === 4) {
    const stripped = readVarint(content, at)
    if (stripped === undefined || stripped.value > previous) return undefined
    kept = previous - stripped.value
    ;({ at } = stripped)
  }
  const pathEnd = content.indexOf(0, at)
  if (pathEnd === -1 || pathEnd >= end) return undefined
  const next = version === 4 ? pathEnd + 1 : start + ((pathEnd - start + 8) & ~7)
  return { flags, more, kept, pathAt: at, pathEnd, next }
}

/** Whether the path of one entry is a parent directory of another entry. */
function holdsOneOf(entries: readonly IndexEntry[]): boolean {
  const files = new Set(entries.filter(({ mode, stage }) => stage === 0 && mode !== 0o040000).map(({ path }) => path))
  let known = ''
  return entries.some(({ path, stage }) => {
    if (stage !== 0) return false
    const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    // The entries of one directory follow each other, so their parents are looked up only once.
    if (directory === known) return false
    known = directory
    for (let parent = directory; parent !== ''; parent = parent.slice(0, Math.max(0, parent.lastIndexOf('/')))) {
      if (files.has(parent)) return true
    }
    return false
  })
}

/**
 * Converts the index that commands left into an index for the host. Entries that are the same in the host's previous index keep the host's metadata.
 * For all other entries, git has to read the file itself, because a command could have written false metadata. As in git itself, a file that is marked with
 * `--skip-worktree` stays marked when its entry changes.
 *
 * @param sparse whether the host's work tree is sparse, according to the host's config
 */
export function mergeIndex(
  host: readonly IndexEntry[],
  left: readonly IndexEntry[],
  oidBytes: number,
  sparse: boolean,
): Buffer {
  const known = new Map(host.map((entry) => [`${entry.stage}${entry.path}`, entry]))
  return writeIndex(
    left.map((entry) => {
      const before = known.get(`${entry.stage}${entry.path}`)
      const same = before !== undefined && before.oid === entry.oid && before.mode === entry.mode
      return {
        ...entry,
        stat: same && isSameFile(before.stat, entry.stat) ? before.stat : Buffer.alloc(statBytes),
        assumeValid: same && before.assumeValid && entry.assumeValid,
        skipWorktree: entry.skipWorktree && (sparse || before?.skipWorktree === true),
      }
    }),
    oidBytes,
  )
}

/**
 * The index for commands that can't read some of the tracked files. It makes git assume that these files are unchanged (git-update-index(1),
 * `--assume-unchanged`, `--skip-worktree`), so that no git command fails on them or reports them as deleted. If there are no such files, or the index
 * can't be parsed, the index is returned unchanged.
 *
 * @param names the paths of the files and directories that commands can't read, in the form that `decodeText` returns
 * @param sparse whether the work tree is sparse. `--skip-worktree` then already marks files that are left out, and `git reset --hard` fails on files
 * with both marks, so only `--assume-unchanged` is used
 * @internal
 */
export function assumeUnchanged(content: Buffer, names: readonly string[], oidBytes: number, sparse: boolean): Buffer {
  if (names.length === 0) return content
  const entries = parseIndex(content, oidBytes)
  const known = new Set(names.map((name) => encodeText(name).toString('latin1')))
  const isHidden = (path: string): boolean => {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) if (known.has(at)) return true
    return false
  }
  if (entries?.some(({ path }) => isHidden(path)) !== true) return content
  return writeIndex(
    entries.map((entry) =>
      isHidden(entry.path) ? { ...entry, assumeValid: true, skipWorktree: entry.skipWorktree || !sparse } : entry,
    ),
    oidBytes,
  )
}

/** Whether two entries have the same metadata, regardless of the owner: user ids are mapped inside the sandbox. */
function isSameFile(a: Buffer, b: Buffer): boolean {
  return a.subarray(0, ownerAt).equals(b.subarray(0, ownerAt)) && a.subarray(sizeAt).equals(b.subarray(sizeAt))
}

function writeIndex(entries: readonly IndexEntry[], oidBytes: number): Buffer {
  const extended = entries.some(({ skipWorktree, intentToAdd }) => skipWorktree || intentToAdd)
  const header = Buffer.from('DIRC\0\0\0\0\0\0\0\0', 'latin1')
  header.writeUInt32BE(extended ? 3 : 2, 4)
  header.writeUInt32BE(entries.length, 8)
  const parts: Buffer[] = [header]
  for (const entry of entries) {
    const more = (entry.skipWorktree ? 0x4000 : 0) | (entry.intentToAdd ? 0x2000 : 0)
    const fixed = statBytes + oidBytes + 2 + (more === 0 ? 0 : 2)
    const path = Buffer.from(entry.path, 'latin1')
    const written = Buffer.alloc((fixed + path.length + 8) & ~7)
    entry.stat.copy(written)
    written.writeUInt32BE(entry.mode, modeAt)
    written.write(entry.oid, statBytes, 'hex')
    const flags = (entry.assumeValid ? 0x8000 : 0) | (more === 0 ? 0 : 0x4000) | (entry.stage << 12)
    written.writeUInt16BE(flags | Math.min(path.length, 0xfff), statBytes + oidBytes)
    if (more !== 0) written.writeUInt16BE(more, statBytes + oidBytes + 2)
    path.copy(written, fixed)
    parts.push(written)
  }
  if (entries.some(({ mode }) => mode === 0o040000)) parts.push(Buffer.from('sdir\0\0\0\0', 'latin1'))
  const content = Buffer.concat(parts)
  return Buffer.concat([content, checksum(content, oidBytes)])
}

/** Computes the checksum that git puts at the end of an index, after `content`. */
export function checksum(content: Buffer, oidBytes: number): Buffer {
  // The module is loaded only when needed: most runs don't need it, and loading it takes longer than confining a command.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash(oidBytes === 32 ? 'sha256' : 'sha1')
    .update(content)
    .digest()
}

function readVarint(content: Buffer, from: number): { readonly value: number; readonly at: number } | undefined {
  let at = from
  let byte = content[at]
  if (byte === undefined) return undefined
  let value = byte & 127
  while ((byte & 128) !== 0) {
    at += 1
    byte = content[at]
    if (byte === undefined || at - from > 4) return undefined
    value = (value + 1) * 128 + (byte & 127)
  }
  return { value, at: at + 1 }
}
