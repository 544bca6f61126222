/** A POSIX access control list in the form in which Linux stores it as an extended attribute: hexadecimal, with `0x` before it. */
export const accessList = 'system.posix_acl_access'

/** The attribute with a file's capabilities (capabilities(7)). */
export const capability = 'security.capability'

/** The list that a directory gives to the files that are created in it. */
export const defaultList = 'system.posix_acl_default'

const tags = { user: 0x01, namedUser: 0x02, group: 0x04, namedGroup: 0x08, mask: 0x10, other: 0x20 } as const
const noId = 0xffffffff

type Entry = { readonly tag: number; readonly rights: number; readonly id: number }

/** The list that says no more than the permission bits. The system doesn't store it: setting it removes any other. */
export function plainList(mode: number): string {
  return storeEntries([
    { tag: tags.user, rights: (mode >> 6) & 7, id: noId },
    { tag: tags.group, rights: (mode >> 3) & 7, id: noId },
    { tag: tags.other, rights: mode & 7, id: noId },
  ])
}

/**
 * The permission bits that a file may have without its list, so that nobody has more rights than with it. With a list, the bits of the group are the most that
 * any named user or group may do, and not what the group itself may do.
 */
export function modeWithout(list: string, mode: number): number {
  const entries = readEntries(list)
  const rightsOf = (tag: number): number => entries.find((one) => one.tag === tag)?.rights ?? 0
  const group = rightsOf(tags.group) & (entries.some(({ tag }) => tag === tags.mask) ? rightsOf(tags.mask) : 7)
  return (mode & ~0o070) | ((group & (mode >> 3)) << 3)
}

function readEntries(list: string): readonly Entry[] {
  const bytes = Buffer.from(list.slice(2), 'hex')
  const entries: Entry[] = []
  for (let at = 4; at + 8 <= bytes.length; at += 8) {
    entries.push({ tag: bytes.readUInt16LE(at), rights: bytes.readUInt16LE(at + 2), id: bytes.readUInt32LE(at + 4) })
  }
  return entries
}

function storeEntries(entries: readonly Entry[]): string {
  const bytes = Buffer.alloc(4 + 8 * entries.length)
  bytes.writeUInt32LE(2)
  for (const [index, { tag, rights, id }] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + 8 * index)
    bytes.writeUInt16LE(rights, 6 + 8 * index)
    bytes.writeUInt32LE(id, 8 + 8 * index)
  }
  return `0x${bytes.toString('hex')}`
}

const words = [
  ['user', tags.user, tags.namedUser],
  ['group', tags.group, tags.namedGroup],
  ['mask', tags.mask, tags.mask],
  ['other', tags.other, tags.other],
] as const

/** Reads a list in the text form of `getfacl --numeric`, without the `default:` before its lines. */
export function parseList(lines: readonly string[]): string {
  return storeEntries(
    lines.flatMap((line) => {
      const [word = '', id = '', rights = ''] = line.split(':')
      const [, own, named] = words.find(([name]) => name === word) ?? []
      if (own === undefined || named === undefined) return []
      const bits = (rights[0] === 'r' ? 4 : 0) | (rights[1] === 'w' ? 2 : 0) | (rights[2] === 'x' ? 1 : 0)
      return [{ tag: id === '' ? own : named, rights: bits, id: id === '' ? noId : Number(id) }]
    }),
  )
}

/** The text form of a list, which `setfacl` reads. */
export function printList(list: string): string {
  const print = ({ tag, rights, id }: Entry): string => {
    const word = words.find(([, own, named]) => own === tag || named === tag)?.[0] ?? 'other'
    const bits = `${(rights & 4) === 0 ? '-' : 'r'}${(rights & 2) === 0 ? '-' : 'w'}${(rights & 1) === 0 ? '-' : 'x'}`
    return `${word}:${id === noId ? '' : id}:${bits}\n`
  }
  return readEntries(list).map(print).join('')
}
