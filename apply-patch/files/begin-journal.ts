import { errnoOf } from './commit-error.ts'
import { withoutUndo } from './describe-commit.ts'
import type { Header, Journal } from './journal.ts'

/** Journals up to this size must have room; larger ones may do without what it takes to undo the commit. */
const neededForUndo = 64 * 1024 * 1024

/**
 * Writes the journal of a commit. Where there is no room for many old bytes, the commit is made all the same, and can't be undone.
 *
 * @returns what the journal says
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
