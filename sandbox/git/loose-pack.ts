import process from 'node:process'
import type { HeldDirectory } from './held-directory.ts'

/** The maximum number and total size (in bytes) of loose objects that this program packs itself. If there are more, git packs them. */
const [mostObjects, mostBytes] = [128, 1024 * 1024]

/** The numbers of the object types in gitformat-pack(5). */
const kinds: Readonly<Record<string, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }

/** A pack, the ids of the objects in it, and the ids of those that are commits. */
type LoosePack = {
  readonly content: Buffer
  readonly oids: ReadonlySet<string>
  readonly commits: ReadonlySet<string>
}

/**
 * Packs the loose objects that commands left. It doesn't start git in the sandbox, because that would take longer. Each object's content is checked
 * against its id; the host's git checks everything else about the objects.
 *
 * @param objects a directory of objects
 * @param known ids of objects that the host has already received
 * @returns undefined if git has to make the pack, because there are packs, too many or too large objects, or files that git wouldn't write
 */
export function packLoose(objects: HeldDirectory, oidBytes: number, known: ReadonlySet<string>): LoosePack | undefined {
  if (objects.names('pack')?.length !== 0) return undefined
  const found = newOnes(objects, oidBytes, known)
  if (found === undefined) return undefined
  // These modules are loaded only when needed, because most runs don't need them.
  const { inflateSync, deflateSync } = process.getBuiltinModule('node:zlib')
  const { createHash, hash } = process.getBuiltinModule('node:crypto')
  const algorithm = oidBytes === 32 ? 'sha256' : 'sha1'
  const parts = [head(found.length)]
  const commits = new Set<string>()
  let left = mostBytes
  for (const oid of found) {
    const compressed = objects.read(`${oid.slice(0, 2)}/${oid.slice(2)}`, left)
    if (compressed === undefined) return undefined
    let content: Buffer
    try {
      content = inflateSync(compressed, { maxOutputLength: left })
    } catch {
      // The object is too large, or the file isn't one that git would write.
      return undefined
    }
    left -= content.length
    if (left <= 0 || hash(algorithm, content) !== oid) return undefined
    const header = /^(commit|tree|blob|tag) (\d{1,9})\0/.exec(content.toString('latin1', 0, 32))
    const [before = '', kind = '', size = ''] = header ?? []
    if (header === null || Number(size) !== content.length - before.length) return undefined
    if (kind === 'commit') commits.add(oid)
    parts.push(entryHead(kinds[kind] ?? 0, Number(size)), deflateSync(content.subarray(before.length)))
  }
  const content = Buffer.concat(parts)
  const sum = createHash(algorithm).update(content).digest()
  return { content: Buffer.concat([content, sum]), oids: new Set(found), commits }
}

/** The ids of the loose objects that are not `known`, taken from the names of their files; undefined if there are too many. */
function newOnes(objects: HeldDirectory, oidBytes: number, known: ReadonlySet<string>): readonly string[] | undefined {
  const found: string[] = []
  for (const directory of objects.names('') ?? []) {
    if (!/^[0-9a-f]{2}$/.test(directory)) continue
    for (const name of objects.names(directory) ?? []) {
      const oid = directory + name
      // The names of files that git hasn't finished writing don't have this form.
      if (oid.length !== oidBytes * 2 || !/^[0-9a-f]+$/.test(name) || known.has(oid)) continue
      found.push(oid)
      if (found.length > mostObjects) return undefined
    }
  }
  return found
}

function head(count: number): Buffer {
  const buffer = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1')
  buffer.writeUInt32BE(count, 8)
  return buffer
}

/**
 * Encodes the type and size of an object. The first byte contains the type and four bits of the size; each further byte contains seven bits of the
 * size.
 */
function entryHead(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)]
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}
