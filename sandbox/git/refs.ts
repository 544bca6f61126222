import { compareBytes, decodeText, encodeText } from '../path-bytes.ts'
import type { HeldDirectory } from './held-directory.ts'

/** A repository's refs, by name, in the form that `decodeText` returns. A value is an object id, or `ref: ` and the name of another ref. */
export type Refs = ReadonlyMap<string, string>

const [largestRef, largestPacked, mostRefs] = [4096, 256 * 1024 * 1024, 500_000]

/** Whether a shell would read the name of a ref as a name: prompts and scripts put names of branches into command lines. */
export function isPlainName(name: string): boolean {
  return !/[$`"';|&()<>]/.test(name)
}

/**
 * Whether a name begins with `refs/`, follows the rules of `git check-ref-format`, and has fewer than 1,024 bytes. As in `git branch` and `git tag`,
 * the short name must not begin with `-`, because programs that pass it to git would pass an option.
 */
export function isRefName(name: string): boolean {
  return (
    name.startsWith('refs/') &&
    (Buffer.byteLength(name) < 1024 || encodeText(name).length < 1024) &&
    !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(name) &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
    !/^refs\/[^/]*\/-/.test(name)
  )
}

/** Whether a text is an object id, with two hexadecimal digits for each of `oidBytes` bytes. */
export function isOid(text: string, oidBytes: number): boolean {
  return text.length === oidBytes * 2 && /^[0-9a-f]+$/.test(text)
}

/** The value in a ref's file; undefined if it is invalid. */
export function parseRef(content: Buffer | undefined, oidBytes: number): string | undefined {
  if (content === undefined) return undefined
  const text = decodeText(content).replace(/\n$/, '')
  const target = /^ref: (refs\/.*)$/s.exec(text)?.[1]
  if (target !== undefined) return isRefName(target) ? text : undefined
  return isOid(text, oidBytes) ? text : undefined
}

/** All refs below `refs/` in a directory, loose and packed; undefined if there are too many. Files that aren't valid refs are skipped. */
export function readRefs(directory: HeldDirectory, oidBytes: number): Refs | undefined {
  const refs = new Map<string, string>()
  const open = ['refs']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const name of directory.names(path) ?? []) {
      const entry = `${path}/${name}`
      const kind = directory.stat(entry)?.kind
      if (kind === 'directory') open.push(entry)
      if (kind !== 'file' || !isRefName(entry)) continue
      const value = parseRef(directory.read(entry, largestRef), oidBytes)
      if (value !== undefined) refs.set(entry, value)
      if (refs.size > mostRefs) return undefined
    }
  }
  // The packed refs are read last, because git packs a ref before it removes the ref's own file. That file decides as long as it exists.
  const packed = directory.read('packed-refs', largestPacked)
  for (const line of packed === undefined ? [] : decodeText(packed).split('\n')) {
    const space = line.indexOf(' ')
    if (space !== oidBytes * 2) continue
    const [oid, name] = [line.slice(0, space), line.slice(space + 1)]
    if (isOid(oid, oidBytes) && isRefName(name) && !refs.has(name)) refs.set(name, oid)
  }
  return refs
}

/**
 * All refs except those that belong to a single work tree. Git never packs the latter, and they are treated as a part of that work tree's state.
 */
export function sharedRefs(refs: Refs): Map<string, string> {
  return new Map([...refs].filter(([name]) => !/^refs\/(?:bisect|worktree|rewritten)\//.test(name)))
}

/** Whether two repositories have the same refs with the same values. */
export function areSameRefs(a: Refs, b: Refs): boolean {
  return a.size === b.size && [...a].every(([name, value]) => b.get(name) === value)
}

/**
 * Whether a repository has a `packed-refs` file that isn't truncated. Git never removes or empties the file, so the refs in a missing part of it don't
 * count as removed.
 */
export function arePackedRefsWhole(directory: HeldDirectory): boolean {
  return directory.read('packed-refs', largestPacked)?.at(-1) === 0x0a
}

/** Whether a ref has a file from which no value can be read, for example an empty one. Such a ref is damaged rather than removed. */
export function isDamaged(directory: HeldDirectory, name: string, oidBytes: number): boolean {
  const kind = directory.stat(name)?.kind
  if (kind === undefined || kind === 'directory') return false
  return kind !== 'file' || parseRef(directory.read(name, largestRef), oidBytes) === undefined
}

/** The value of one ref in a `packed-refs` file. */
export function refInPacked(packed: Buffer | undefined, name: string): string | undefined {
  const at = packed?.indexOf(encodeText(` ${name}\n`)) ?? -1
  if (packed === undefined || at === -1) return undefined
  const value = decodeText(packed.subarray(packed.lastIndexOf('\n', at) + 1, at))
  return /^[0-9a-f]+$/.test(value) ? value : undefined
}

/** A `packed-refs` file with all refs except symbolic ones, which can't be packed. */
export function writePackedRefs(refs: Refs): Buffer {
  const lines = [...refs].filter(([, value]) => !value.startsWith('ref: ')).toSorted(([a], [b]) => compareBytes(a, b))
  return encodeText(`# pack-refs with: sorted\n${lines.map(([name, oid]) => `${oid} ${name}\n`).join('')}`)
}
