import { readFileSync, writeFileSync, type BigIntStats } from 'node:fs'
import * as z from 'zod'
import { UserError } from '../core/user-error.ts'

const base = { key: z.string(), mode: z.int() }

const entry = z.discriminatedUnion('kind', [
  /** `stamp`: what changes of the copy when it is written. `was`: the same of the original. */
  z.object({
    ...base,
    kind: z.literal('file'),
    size: z.number(),
    was: z.string(),
    stamp: z.string(),
    /** Its git object. Absent: it isn't known to have the same content. */
    blob: z.string().optional(),
  }),
  z.object({ ...base, kind: z.literal('link'), target: z.string(), was: z.string() }),
  z.object({ ...base, kind: z.literal('directory') }),
  /** What a view lacks: pipes, sockets and devices, and what this user can't read. That it is missing is no change. */
  z.object({ ...base, kind: z.literal('left-out') }),
])

/** An entry of a tree as it was when the view of it was made, by its key. Targets of links have a character for each byte. */
export type Original = z.infer<typeof entry>

/** What a view was made from, by keys. */
export type Manifest = ReadonlyMap<string, Original>

/** What changes of a file when it is written, replaced, or given another mode or time. */
export function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode.toString(8)}`
}

/** Writes a manifest to a file. */
export function writeManifest(file: string, manifest: Manifest): void {
  writeFileSync(file, [...manifest.values()].map((each) => `${JSON.stringify(each)}\n`).join(''), { mode: 0o600 })
}

/** @throws UserError `failed` for a file without one */
export function readManifest(file: string): Manifest {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return new Map(lines.map((line) => entry.parse(JSON.parse(line))).map((each) => [each.key, each]))
  } catch (error) {
    const message = `${file}: what the view was made from can't be read: ${(error as Error).message}`
    throw new UserError('failed', message, { cause: error })
  }
}
