import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { CommitError } from './errors.ts'
import { doneMark, linklessMark, readyMark, type Header } from './journal.ts'

const entry = z.strictObject({ directory: z.string().startsWith('/'), name: z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/) })
const print = z.strictObject({
  size: z.number().int().nonnegative(),
  crc: z.number().int().nonnegative(),
  mode: z.number().int().optional(),
  symlink: z.string().optional(),
})
const trace = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('add'), target: entry, fresh: entry, print }),
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
  }),
])
const path = z.string().startsWith('/')
const header = z.strictObject({
  version: z.literal(1),
  root: path,
  rootInode: z.string(),
  unsafePaths: z.boolean(),
  nonce: z.string(),
  at: z.number(),
  steps: z.array(z.strictObject({ trace, path: z.string(), before })),
  made: z.array(path),
  cleared: z.array(z.strictObject({ path, mode: z.number().int(), uid: z.number().int(), gid: z.number().int() })),
  emptied: z.array(path),
  retires: z.array(z.string().regex(/^\/(?:.*\/)?applied-[^/\0]+$/)),
  canUndo: z.boolean(),
  bytes: z.number().int().nonnegative(),
})

/** A journal as read back. */
export type ReadJournal =
  /** It was never completed, so nothing was done in the tree. */
  | { readonly state: 'not-begun' }
  | {
      /** `begun`: to be taken back. `done`: to be cleaned up after. */
      readonly state: 'begun' | 'done'
      readonly header: Header
      readonly linkless: boolean
      /** The bytes that only the old files had, in their order. */
      readonly bytes: Buffer
    }

/** Reads a journal of ours. @throws CommitError `unrecoverable` when it isn't one, or of a newer version */
export function readJournal(file: string): ReadJournal {
  const content = readFileSync(file)
  const lineEnd = content.indexOf(0x0a)
  if (lineEnd === -1) return { state: 'not-begun' }
  const parsed = header.safeParse(parseLine(content.subarray(0, lineEnd), file))
  if (!parsed.success)
    throw new CommitError('unrecoverable', { operation: 'journal', journal: file, cause: parsed.error })
  const { steps, ...rest } = parsed.data
  const from = lineEnd + 1
  const to = from + rest.bytes
  const tail = content.subarray(to).toString('latin1')
  if (!tail.startsWith(readyMark)) return { state: 'not-begun' }
  const marks = tail.slice(readyMark.length)
  return {
    state: marks.includes(doneMark) ? 'done' : 'begun',
    header: { ...rest, steps: steps.map((step) => ({ ...step, trace: withAll(step.trace) })) },
    linkless: marks.includes(linklessMark),
    bytes: content.subarray(from, to),
  }
}

/** JSON leaves out what is undefined; our types say it is there. */
function withAll(read: z.infer<typeof trace>): Header['steps'][number]['trace'] {
  if (read.type === 'remove') return read
  return { ...read, print: { ...read.print, mode: read.print.mode, symlink: read.print.symlink } }
}

function parseLine(line: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(Buffer.from(line).toString('utf8'))
  } catch (cause) {
    throw new CommitError('unrecoverable', { operation: 'journal', journal: file, cause })
  }
}
