import { isUtf8 } from 'node:buffer'
import type { Change, ChangeSet } from '../change-set.ts'
import { diffLines } from './diff-lines.ts'
import { groupDifferences, type Group } from './group-differences.ts'

/**
 * The planned or applied changes of a change set, as a unified diff that `git apply` and `patch -p1` accept, unless it includes binary files: it only
 * says that they differ.
 *
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * console.log(unifiedDiff(await planPatch(patch, { root: '.' })))
 */
export function unifiedDiff(changeSet: Pick<ChangeSet, 'changes'>): string {
  const written = new Map(
    changeSet.changes.flatMap((change) => (change.type === 'write' ? [[change.place.key, change]] : [])),
  )
  return changeSet.changes.map((change) => diffChange(change, changeSet.changes, written)).join('')
}

function diffChange(change: Change, all: readonly Change[], written: ReadonlyMap<string, Change>): string {
  if (change.type === 'remove') {
    // The lines of a moved file are shown at its new path.
    if (change.movedTo !== undefined && isMoveOf(written.get(change.movedTo.key), change)) return ''
    return diffFile(change.place.path, undefined, bytesBefore(change), undefined, modeBefore(change), undefined)
  }
  const after = change.symlink === undefined ? Buffer.concat(change.content) : Buffer.from(change.symlink)
  const source = all.find((other) => other.type === 'remove' && isMoveOf(change, other))
  const mode = change.symlink === undefined ? (change.mode ?? 0o644) : undefined
  if (source !== undefined && change.before.type === 'absent') {
    return diffFile(source.place.path, change.place.path, bytesBefore(source), after, modeBefore(source), mode)
  }
  const before = change.before.type === 'absent' ? undefined : bytesBefore(change)
  return diffFile(change.place.path, change.place.path, before, after, modeBefore(change), mode)
}

function isMoveOf(write: Change | undefined, removed: Change): boolean {
  return write?.type === 'write' && write.movedFrom?.key === removed.place.key
}

function bytesBefore({ before }: Change): Buffer {
  if (before.type === 'file') return before.bytes
  // A file too large to be read is shown as binary.
  if (before.type === 'unread') return Buffer.of(0)
  return Buffer.from(before.type === 'symlink' ? before.target : '')
}

function modeBefore({ before }: Change): number | undefined {
  return before.type === 'file' || before.type === 'unread' ? before.mode : undefined
}

function diffFile(
  from: string,
  to: string | undefined,
  before: Buffer | undefined,
  after: Buffer | undefined,
  modeBefore: number | undefined,
  modeAfter: number | undefined,
): string {
  const [a, b] = [quoteName(`a/${from}`), quoteName(`b/${to ?? from}`)]
  const head = [`diff --git ${a} ${b}`]
  if (before === undefined) head.push(`new file mode ${gitMode(modeAfter)}`)
  else if (after === undefined) head.push(`deleted file mode ${gitMode(modeBefore)}`)
  else if (from !== to) head.push(`rename from ${from}`, `rename to ${to}`)
  const body = diffBodies(before ?? Buffer.alloc(0), after ?? Buffer.alloc(0))
  if (body === '') return from === to && before !== undefined && after !== undefined ? '' : `${head.join('\n')}\n`
  if (body === undefined) return `${head.join('\n')}\nBinary files ${a} and ${b} differ\n`
  head.push(`--- ${before === undefined ? '/dev/null' : a}`, `+++ ${after === undefined ? '/dev/null' : b}`)
  return `${head.join('\n')}\n${body}`
}

/** The body of a unified diff: one section, with an `@@` line, for each group of differences. @returns undefined for binary content */
export function diffBodies(before: Buffer, after: Buffer): string | undefined {
  if (before.equals(after)) return ''
  if (isBinary(before) || isBinary(after)) return undefined
  const [a, b] = [splitLines(before), splitLines(after)]
  const groups = groupDifferences(diffLines(a, b), 3, a.length, b.length)
  return groups.map((group) => renderGroup(group, a, b)).join('')
}

/** A group of differences in the form of a unified diff, with its `@@` line. */
export function renderGroup(
  { aFrom, aTo, bFrom, bTo, differences }: Group,
  a: readonly string[],
  b: readonly string[],
): string {
  const lines = [`@@ -${range(aFrom, aTo)} +${range(bFrom, bTo)} @@\n`]
  let at = aFrom
  for (const difference of differences) {
    for (; at < difference.aFrom; at++) lines.push(render(' ', a[at] ?? ''))
    for (; at < difference.aTo; at++) lines.push(render('-', a[at] ?? ''))
    for (let line = difference.bFrom; line < difference.bTo; line++) lines.push(render('+', b[line] ?? ''))
  }
  for (; at < aTo; at++) lines.push(render(' ', a[at] ?? ''))
  return lines.join('')
}

function render(mark: string, line: string): string {
  return line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`
}

function range(from: number, to: number): string {
  if (to - from === 1) return String(from + 1)
  return `${to === from ? from : from + 1},${to - from}`
}

/** Splits a text into lines. Each line keeps its LF. */
export function splitLines(bytes: Buffer): readonly string[] {
  const lines = bytes.toString().split(/(?<=\n)/)
  return lines[0] === '' ? [] : lines
}

/** Whether bytes are binary, which means that they can neither be shown as text nor be put into a patch as text. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.includes(0) || !isUtf8(bytes)
}

/** The mode of a file in git's form; if `mode` is undefined, the mode of a symbolic link. */
export function gitMode(mode: number | undefined): string {
  if (mode === undefined) return '120000'
  return (mode & 0o111) === 0 ? '100644' : '100755'
}

/** Quotes a file name with C escapes, as git does, if it contains control characters, double quotes or backslashes. */
export function quoteName(name: string): string {
  if (!/[\p{Cc}"\\]/u.test(name)) return name
  const inside = name.replace(/[\p{Cc}"\\]/gu, (one) =>
    [...Buffer.from(one)].map((byte) => escapes[byte] ?? `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  )
  return `"${inside}"`
}

const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}
