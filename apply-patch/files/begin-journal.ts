import { errnoOf } from './commit-error.ts'
import { withoutUndo } from './describe-commit.ts'
import type { Header, Journal } from './journal.ts'

/** The size, in bytes, up to which a journal must fit on the disk. A larger journal may omit the data for an undo. */
const neededForUndo = 64 * 1024 * 1024

/**
 * Writes the journal of a commit. If the disk lacks space for very many old bytes, the commit still happens but can't be undone.
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
