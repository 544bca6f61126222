import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Sandbox } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { readRecord, type RunChange, type Side } from './change-record.ts'
import type { Difference, Entry } from './find-differences.ts'
import { keepBytes, keepFile } from './kept-files.ts'
import { bytesOf } from './path-keys.ts'
import { readBlob } from './read-blob.ts'
import { statsOf } from './tree-files.ts'
import type { MergeRule } from './merge-rules.ts'
import { stampOf, type Manifest } from './view-manifest.ts'

/** One tree of a view. */
export type Tree = { readonly path: string; readonly source: string; readonly manifest: Manifest }

/**
 * Returns the hashes of files' original contents from the previous record, by path. They can be trusted: when that record was made, nobody else had
 * written to these files, or git still had their original contents.
 */
export function knownBefore(directory: string): ReadonlyMap<string, string> {
  const changes = readRecord(directory)?.changes ?? []
  return new Map(
    changes.flatMap(({ root, path, before }) =>
      before.type === 'file' && before.hash !== null ? [[join(root, path), before.hash] as const] : [],
    ),
  )
}

/**
 * Converts a difference to a change, with the hashes of its contents.
 *
 * @param rule what git's attributes say about the file
 * @returns undefined if the two sides turn out to be the same
 */
export async function changeOf(
  { key, before, after }: Difference,
  tree: Tree,
  directory: LockedFolder,
  sandbox: Sandbox,
  earlier: ReadonlyMap<string, string>,
  rule: MergeRule,
): Promise<RunChange | undefined> {
  const now = sideOf(after, () => keepOwn(directory, bytesOf(tree.source, key)))
  const was = sideOf(before, () => undefined)
  const old =
    was.type === 'file'
      ? {
          ...was,
          hash:
            (await hashBefore(key, tree, directory, sandbox, rule)) ??
            earlier.get(join(tree.path, pathOfKey(key))) ??
            null,
        }
      : was
  if (isDeepStrictEqual(old, now)) return undefined
  const modified =
    now.type === 'absent' || (now.type === 'directory' && old.type === 'directory')
      ? undefined
      : statsOf(bytesOf(tree.source, key))?.mtimeNs
  const change = {
    ...{ root: tree.path, path: pathOfKey(key), before: old, after: now },
    ...(modified === undefined ? {} : { modified: `${modified}` }),
  }
  const isFile = old.type === 'file' && now.type === 'file'
  return isFile && rule.noMerge !== undefined ? { ...change, no_merge: rule.noMerge } : change
}

/** Stores the content of a file of the view. The file belongs to this user, so a mode that forbids reading it is changed for a moment. */
function keepOwn(directory: LockedFolder, file: Buffer): ReturnType<typeof keepFile> {
  const kept = keepFile(directory, file)
  const mode = Number((statsOf(file)?.mode ?? 0n) & 0o7777n)
  if (kept !== undefined || (mode & 0o400) !== 0) return kept
  try {
    chmodSync(file, mode | 0o400)
  } catch {
    return undefined
  }
  try {
    return keepFile(directory, file)
  } finally {
    chmodSync(file, mode)
  }
}

function sideOf(entry: Entry, keep: () => ReturnType<typeof keepFile>): Side {
  switch (entry.kind) {
    case 'absent':
    case 'other':
      return { type: 'absent' }
    case 'link':
      return { type: 'symlink', target: pathOfKey(entry.target) }
    case 'directory':
      return { type: 'directory', mode: entry.mode, ...(entry.was && { was: entry.was }) }
    case 'file': {
      const { mode, size } = entry
      return { type: 'file', mode, ...(keep() ?? { size, hash: null }) }
    }
    default:
      return entry satisfies never
  }
}

/**
 * Returns the hash of the content that a file had when the view was made: of its current content if nobody has written to the file since, otherwise
 * of the content that git would have checked out. Returns null if the original content is unknown.
 */
async function hashBefore(
  key: string,
  { path, manifest }: Tree,
  directory: LockedFolder,
  sandbox: Sandbox,
  { isConverted }: MergeRule,
): Promise<string | null> {
  const original = manifest.get(key)
  if (original?.kind !== 'file') return null
  const file = bytesOf(path, key)
  const isAsItWas = (): boolean => {
    const stats = statsOf(file)
    return stats !== undefined && stampOf(stats) === original.was
  }
  if (isAsItWas()) {
    const kept = keepFile(directory, file)
    if (kept !== undefined && isAsItWas()) return kept.hash
  }
  if (original.blob === undefined || isConverted) return null
  const bytes = await readBlob(original.blob, { sandbox, cwd: path })
  const content = bytes && checkedOut(bytes, original.size)
  return content === undefined ? null : keepBytes(directory, content)
}

/**
 * The bytes that git would have checked out for an object into a file of a given size, if git converts nothing but line endings. The size shows whether git
 * converted them: each converted line ending adds one byte.
 *
 * @returns undefined if only some of the line endings were converted, because it is unknown which
 */
function checkedOut(blob: Buffer, size: number): Buffer | undefined {
  if (blob.length === size) return blob
  const converted = Buffer.from(blob.toString('latin1').replaceAll(/(?<!\r)\n/g, '\r\n'), 'latin1')
  return converted.length === size ? converted : undefined
}
