import { closeSync, openSync, readSync } from 'node:fs'
import { CommitError } from './commit-error.ts'
import type { LockEntry } from './commit-steps.ts'
import { doneMark, linklessMark, readyMark, type Header } from './journal.ts'
import type { ReadHeader } from './journal-schema.ts'

/** A journal as it was read from its file. */
export type ReadJournal =
  /** The journal was never completely written. A journal is completed before the tree is changed, so the tree is unchanged. */
  | { readonly state: 'not-begun' }
  | {
      /** `begun`: the commit must be rolled back. `done`: it is complete, and only cleaning up is left. */
      readonly state: 'begun' | 'done'
      readonly header: Header
      readonly linkless: boolean
      /** The offset, within the file, of the concatenated bytes that only the old files had. */
      readonly bytesAt: number
    }

/** Reads a journal. @throws CommitError `unrecoverable` if the file isn't a journal, or if its version is newer than this program supports */
export async function readJournal(file: string): Promise<ReadJournal> {
  const line = readLine(file)
  if (line === undefined) return { state: 'not-begun' }
  const { header } = await import('./journal-schema.ts')
  const parsed = header.safeParse(parseLine(line, file))
  if (!parsed.success)
    throw new CommitError('unrecoverable', { operation: 'journal', journal: file, cause: parsed.error })
  const { steps, modes, alongside, ...rest } = parsed.data
  const bytesAt = line.length + 1
  const tail = readAt(file, bytesAt + rest.bytes)
  if (!tail.startsWith(readyMark)) return { state: 'not-begun' }
  const marks = tail.slice(readyMark.length)
  return {
    state: marks.includes(doneMark) ? 'done' : 'begun',
    header: {
      ...rest,
      steps: steps.map(fromStored),
      ...(alongside && { alongside: alongsideFrom(alongside) }),
      modes: modes?.map((mode) => ({ ...mode, before: mode.before })),
    },
    linkless: marks.includes(linklessMark),
    bytesAt,
  }
}

/**
 * The first line of a journal, without its newline; undefined if the journal contains no newline. The bytes after the first line aren't kept, because
 * they may not fit into memory.
 */
function readLine(file: string): Buffer | undefined {
  return reading(file, (descriptor) => {
    const chunks: Buffer[] = []
    for (let at = 0; ;) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const got = readSync(descriptor, chunk, 0, chunk.length, at)
      if (got === 0) return undefined
      const end = chunk.subarray(0, got).indexOf(0x0a)
      chunks.push(chunk.subarray(0, end === -1 ? got : end))
      if (end !== -1) return Buffer.concat(chunks)
      at += got
    }
  })
}

/** The marks in a journal, which follow the old bytes and start at `position`. */
function readAt(file: string, position: number): string {
  return reading(file, (descriptor) => {
    const marks = Buffer.alloc(64)
    return marks.toString('latin1', 0, readSync(descriptor, marks, 0, marks.length, position))
  })
}

function reading<Result>(file: string, read: (descriptor: number) => Result): Result {
  const descriptor = openSync(file, 'r')
  try {
    return read(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Gives stored fields the names that they have in memory, and adds those that JSON leaves out because they are undefined. */
function fromStored({ trace, path, before }: StoredStep): Header['steps'][number] {
  return { journalEntry: entryFrom(trace), path, before: stateFrom(before) }
}

function alongsideFrom({ within, steps, locks }: NonNullable<ReadHeader['alongside']>): Header['alongside'] {
  return { within, steps: steps.map(entryFrom), locks: locks.map(addedFrom) }
}

type StoredStep = ReadHeader['steps'][number]

function entryFrom(trace: StoredStep['trace']): Header['steps'][number]['journalEntry'] {
  if (trace.type === 'remove') return trace
  if (trace.type === 'add') return addedFrom(trace)
  const { print, ...rest } = trace
  return { ...rest, fingerprint: { ...print, mode: print.mode, symlink: print.symlink } }
}

function addedFrom({ print, ...rest }: Extract<StoredStep['trace'], { type: 'add' }>): LockEntry {
  return { ...rest, fingerprint: { ...print, mode: print.mode, symlink: print.symlink } }
}

function stateFrom(before: StoredStep['before']): Header['steps'][number]['before'] {
  if (before.type !== 'file') return before
  const { recipe, ...rest } = before
  return { ...rest, delta: recipe }
}

function parseLine(line: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(Buffer.from(line).toString('utf8'))
  } catch (cause) {
    throw new CommitError('unrecoverable', { operation: 'journal', journal: file, cause })
  }
}
