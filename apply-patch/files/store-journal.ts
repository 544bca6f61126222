import type { JournalEntry } from './commit-steps.ts'
import { readyMark, type Header, type JournalContent, type JournalStep } from './journal.ts'

/** The size, in bytes, of the chunks in which a journal is written. Larger pieces are written without being copied. */
const chunkSize = 64 * 1024

/**
 * The content of a journal as chunks, from the header to the mark at its end, in the format that `journal-schema.ts` reads. Each chunk is valid until the next
 * one is requested.
 */
export function* storedChunks(content: JournalContent): Iterable<Uint8Array> {
  const buffer = Buffer.allocUnsafe(chunkSize)
  let used = 0
  for (const piece of storedPieces(content)) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (used > 0 && used + bytes.length > chunkSize) {
      yield buffer.subarray(0, used)
      used = 0
    }
    if (bytes.length > chunkSize) yield bytes
    else {
      buffer.set(bytes, used)
      used += bytes.length
    }
  }
  yield buffer.subarray(0, used)
}

function* storedPieces({ header, steps, bytes }: JournalContent): Iterable<string | Uint8Array> {
  yield `${JSON.stringify(toStored(header)).slice(0, -1)},"steps":[`
  let separator = ''
  for (const step of steps()) {
    yield `${separator}${JSON.stringify(toStoredStep(step))}`
    separator = ','
  }
  yield ']}\n'
  yield* bytes()
  yield readyMark
}

/** A header with the field names of the stored format. */
function toStored({ alongside, ...rest }: Omit<Header, 'steps'>): object {
  if (alongside === undefined) return rest
  const entries = { steps: alongside.steps.map(toStoredEntry), locks: alongside.locks.map(toStoredEntry) }
  return { ...rest, alongside: { ...alongside, ...entries } }
}

function toStoredStep({ journalEntry, path, before }: JournalStep): object {
  const { delta, ...old } = before.type === 'file' ? before : { ...before, delta: undefined }
  return { trace: toStoredEntry(journalEntry), path, before: delta === undefined ? old : { ...old, recipe: delta } }
}

function toStoredEntry(journalEntry: JournalEntry): object {
  if (journalEntry.type === 'remove') return journalEntry
  const { fingerprint, ...rest } = journalEntry
  return { ...rest, print: fingerprint }
}
