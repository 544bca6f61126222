import { readFileSync, writeFileSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { pathOfKey } from '../core/changes/list-files.ts'
import { UserError } from '../core/user-error.ts'

const base = { key: z.string(), mode: z.int() }

const entry = z.discriminatedUnion('kind', [
  /** `stamp`: a fingerprint of the copy's metadata, which changes when the copy is written. `was`: the fingerprint of the original. */
  z.object({
    ...base,
    kind: z.literal('file'),
    size: z.number(),
    was: z.string(),
    stamp: z.string(),
    /** The git object with the same content. Absent: none is known. */
    blob: z.string().optional(),
  }),
  z.object({ ...base, kind: z.literal('link'), target: z.string(), was: z.string() }),
  /** `was`: present if it is unknown which mode the directory had. */
  z.object({ ...base, kind: z.literal('directory'), was: z.literal('unknown').optional() }),
  /**
   * An entry that was left out of a view: a pipe, a socket, a device, an unreadable file or directory, or (`isSecret`) a file that holds a secret. Its absence
   * doesn't count as a change.
   */
  z.object({ ...base, kind: z.literal('left-out'), isSecret: z.literal(true).optional() }),
])

/** An entry of a tree as it was when the view was made, with its key. Link targets have one character per byte. */
export type Original = z.infer<typeof entry>

/** The entries that a view was made from, by their keys. */
export type Manifest = ReadonlyMap<string, Original>

/** The metadata that a fingerprint consists of. */
export type Stamped = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs' | 'mode'>

/** A fingerprint of a file's metadata, which changes when the file is written or replaced, or when its mode or time changes. */
export function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: Stamped): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode.toString(8)}`
}

/** The absolute paths of the entries of a tree that were left out: `secret`, because they hold secrets, or `other`, because they can't be copied. */
export function leftOutIn(tree: string, manifest: Manifest, why: 'secret' | 'other'): readonly string[] {
  return [...manifest.values()].flatMap((each) =>
    each.kind === 'left-out' && (each.isSecret === true) === (why === 'secret')
      ? [join(tree, pathOfKey(each.key))]
      : [],
  )
}

/** Writes a manifest to a file. */
export function writeManifest(file: string, manifest: Manifest): void {
  writeFileSync(file, [...manifest.values()].map((each) => `${JSON.stringify(each)}\n`).join(''), { mode: 0o600 })
}

/**
 * Reads a manifest from a file.
 *
 * @throws UserError `failed` if the file can't be read, or contains no manifest
 */
export function readManifest(file: string): Manifest {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return new Map(lines.map((line) => entry.parse(JSON.parse(line))).map((each) => [each.key, each]))
  } catch (error) {
    const message = `${file}: the manifest of the view can't be read: ${(error as Error).message}`
    throw new UserError('failed', message, { cause: error })
  }
}
