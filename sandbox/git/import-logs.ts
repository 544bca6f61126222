import { decodeText, encodeText } from '../path-bytes.ts'
import type { HeldDirectory } from './held-directory.ts'
import { replaceFile, withLock } from './replace-file.ts'
import { remember, same, type ImportSides, type Known } from './import-types.ts'

const largestLog = 64 * 1024 * 1024

/** A reflog that commands have changed, and the lines that they added to it. */
type LogChange = {
  readonly name: string
  readonly left: Buffer
  readonly lines: readonly { readonly text: string; readonly old: string; readonly oid: string }[]
  /**
   * Whether `lines` are the whole log, which then replaces the host's. This is true only for the stash's log, which is a list from which lines can be
   * removed. All other logs only grow.
   */
  readonly whole: boolean
}

/** Finds the reflogs that commands have changed. */
export function readLogs({ left, oidBytes, scopes }: ImportSides, known: Known): readonly LogChange[] {
  const heads = scopes.filter(({ writable }) => writable).map(({ prefix }) => `${prefix}logs/HEAD`)
  // The reflog of a branch only grows, so if its size is the same, it is unchanged.
  const branches = [...sizesBelow(left, 'logs/refs/heads')].flatMap(([name, size]) =>
    size === known.files.get(name)?.length ? [] : [name],
  )
  const names = [...heads, 'logs/refs/stash', ...branches]
  return names.flatMap((name) => {
    const now = left.read(name, largestLog)
    const before = known.files.get(name) ?? Buffer.alloc(0)
    if (now === undefined || same(now, before)) return []
    const whole = name === 'logs/refs/stash'
    if (!whole && !now.subarray(0, before.length).equals(before)) return []
    const text = decodeText(now.subarray(whole ? 0 : before.length))
    const form = new RegExp(
      `^(?<old>[0-9a-f]{${oidBytes * 2}}) (?<oid>[0-9a-f]{${oidBytes * 2}}) [^\\0-\\x1f<>\\x7f]* <[^\\0-\\x1f<>\\x7f]*> \\d{1,12} [+-]\\d{4}(?:\\t[^\\0-\\x08\\x0a-\\x1f\\x7f]*)?$`,
    )
    const lines = text.split('\n').flatMap((line) => {
      const { old, oid } = form.exec(line)?.groups ?? {}
      return old === undefined || oid === undefined ? [] : [{ text: line, old, oid }]
    })
    return [{ name, left: now, lines, whole }]
  })
}

/**
 * Whether the last line that was added to a branch's reflog names the object `oid`. If a work tree has that branch checked out on the host, the last
 * line that was added to the reflog of its HEAD must name the object too.
 */
export function isLogged(
  { host, scopes }: ImportSides,
  changes: readonly LogChange[],
  name: string,
  oid: string,
): boolean {
  const says = (log: string): boolean => changes.find((change) => change.name === log)?.lines.at(-1)?.oid === oid
  const isAt = (prefix: string): boolean => host.text(`${prefix}HEAD`, 4096) === `ref: ${name}\n`
  return says(`logs/${name}`) && scopes.every(({ prefix }) => !isAt(prefix) || says(`${prefix}logs/HEAD`))
}

/**
 * Writes the lines that commands added to reflogs into the host's reflogs, in place of the single line that git may have written when it
 * imported the ref.
 *
 * @param refused refs that weren't imported, so that their logs aren't imported either
 */
export async function importLogs(
  { host, oidBytes }: ImportSides,
  known: Known,
  changes: readonly LogChange[],
  refused: ReadonlySet<string>,
  exists: (oid: string) => boolean,
): Promise<void> {
  const none = '0'.repeat(oidBytes * 2)
  for (const { name, left, lines, whole } of changes) {
    const ref = name.replace(/^((?:worktrees\/[^/]+\/)?)logs\//, '$1')
    const isHead = ref.endsWith('HEAD')
    if (refused.has(ref) || (!isHead && !known.refs.has(ref))) continue
    const good = lines.filter(({ old, oid }) => (old === none || exists(old)) && oid !== none && exists(oid))
    const added = encodeText(good.map(({ text }) => `${text}\n`).join(''))
    const before = known.raw.get(name) ?? Buffer.alloc(0)
    // The lock of a ref protects the ref's log too.
    await withLock(host, ref, () => {
      const now = host.read(name, largestLog)
      if (now !== undefined && !now.subarray(0, before.length).equals(before)) return false
      // If the host's reflog has gained lines that this program didn't write, another program has written to it, so it is left alone.
      const rest = now === undefined ? [] : decodeText(now.subarray(before.length)).split('\n')
      const isOurs = rest.every((line) => line === '' || line.endsWith('\tportcullis: taken over'))
      if (isOurs) replaceFile(host, name, whole ? added : Buffer.concat([before, added]))
      return false
    })
    remember(known, name, left, host.read(name, largestLog) ?? Buffer.alloc(0))
  }
}

/** The files below a directory, with their sizes. */
function sizesBelow(directory: HeldDirectory, path: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  const open = [path]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const [name, { kind, size }] of directory.entries(at) ?? []) {
      if (kind === 'directory') open.push(`${at}/${name}`)
      if (kind === 'file') sizes.set(`${at}/${name}`, size)
    }
  }
  return sizes
}
