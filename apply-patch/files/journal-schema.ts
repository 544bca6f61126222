import * as z from 'zod'

const entry = z.strictObject({ directory: z.string().startsWith('/'), name: z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/) })
const print = z.strictObject({
  size: z.number().int().nonnegative(),
  crc: z.number().int().nonnegative(),
  mode: z.number().int().optional(),
  symlink: z.string().optional(),
})
const added = z.strictObject({ type: z.literal('add'), target: entry, fresh: entry, print })
const trace = z.discriminatedUnion('type', [
  added,
  z.strictObject({ type: z.literal('replace'), target: entry, fresh: entry, old: entry, print }),
  z.strictObject({ type: z.literal('remove'), target: entry, old: entry }),
])
const before = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['absent', 'directory', 'other', 'unknown']) }),
  z.strictObject({ type: z.literal('symlink'), target: z.string() }),
  z.strictObject({
    type: z.literal('file'),
    mode: z.number().int(),
    uid: z.number().int(),
    gid: z.number().int(),
    size: z.number().int().nonnegative(),
    crc: z.number().int().nonnegative(),
    recipe: z.array(z.number().int().nonnegative()),
    attributes: z.record(z.string(), z.string().regex(/^0x[0-9a-f]*$/)).optional(),
  }),
])
const path = z.string().startsWith('/')
const directory = z.strictObject({
  path,
  mode: z.number().int(),
  uid: z.number().int(),
  gid: z.number().int(),
  aside: entry.optional(),
})
const nanoseconds = z.string().regex(/^-?\d{1,20}$/)
const times = z.strictObject({ path, accessed: nanoseconds, modified: nanoseconds })

/**
 * The line of JSON at the start of a journal. `trace`, `print` and `recipe` are the names that the file format uses for `journalEntry`, `fingerprint` and
 * `delta`. The schema is in a file of its own, because few runs read a journal and need a validator.
 */
export const header = z.strictObject({
  version: z.literal(1),
  root: path,
  rootInode: z.string(),
  rootDevice: z.string().optional(),
  rootBirth: z.string().optional(),
  within: z.array(path).optional(),
  unsafePaths: z.boolean(),
  nonce: z.string(),
  at: z.number(),
  steps: z.array(z.strictObject({ trace, path: z.string(), before })),
  made: z.array(path),
  cleared: z.array(directory),
  times: z.array(times).default([]),
  emptied: z.array(path),
  modes: z.array(z.strictObject({ path, before: z.number().int().optional(), after: z.number().int() })).optional(),
  removed: z.array(directory).optional(),
  alongside: z.strictObject({ within: z.array(path), steps: z.array(trace), locks: z.array(added) }).optional(),
  retires: z.array(z.string().regex(/^\/(?:.*\/)?applied-[^/\0]+$/)),
  canUndo: z.boolean(),
  bytes: z.number().int().nonnegative(),
})

/** A header as it is read from a file. Fields that are undefined in memory are absent from the file. */
export type ReadHeader = z.infer<typeof header>
