import { errnoOf } from './commit-error.ts'
import { withoutUndo } from './describe-commit.ts'
import type { Header, Journal } from './journal.ts'

/**
 * If a journal has at most this many old bytes to store for an undo, it must store them: if the disk has no space for them, the commit fails. If
 * there are more bytes than this and no space for them, the journal is written without them, and the commit can't be undone.
 */
const neededForUndo = 64 * 1024 * 1024

/**
 * Writes the journal of a commit. If there are more than `neededForUndo` bytes to store for an undo and the disk has no space for them, the commit
 * still happens, but can't be undone.
 *
 * @returns the journal's header
 */
export function beginJournal(journal: Journal, header: Header, bytes: Iterable<Uint8Array>, durable: boolean): Header {
  try {
    journal.begin(header, bytes, durable)
    return header
  } catch (error) {
    const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errnoOf(error) ?? '')
    if (!isFull || header.bytes <= neededForUndo) throw error
    const less = withoutUndo(header)
    journal.begin(less, [], durable)
    return less
  }
}
