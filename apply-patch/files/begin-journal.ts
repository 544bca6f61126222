import { dirname } from 'node:path'
import { CommitError, errnoOf, withFacts } from './commit-error.ts'
import { withoutUndo } from './describe-commit.ts'
import type { Journal, JournalContent } from './journal.ts'
import { storedChunks } from './store-journal.ts'
import { makeStateDirectory } from './state-directory.ts'

/**
 * If a journal has at most this many old bytes to store for an undo, it must store them: if no disk has space for them, the commit fails. If there are more
 * bytes than this and no space for them, the journal is written without them, and the commit can't be undone.
 */
const neededForUndo = 64 * 1024 * 1024

const full: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']

/**
 * Writes the journal of a commit. If the disk of its folder is full, the journal moves to the next folder that can store it. If there is none, and there are
 * more than `neededForUndo` bytes to store for an undo, the commit still happens, but can't be undone.
 *
 * @returns whether the commit can be undone
 * @throws CommitError `no-state-directory`, which names the folders; `system`, which names the journal
 */
export function beginJournal(
  journal: Journal,
  content: JournalContent,
  options: { readonly durable: boolean; readonly stateDirectory: string | undefined },
): boolean {
  const { root, canUndo, bytes } = content.header
  const tried: { path: string; reason: string }[] = []
  for (;;) {
    const reason = begin(journal, content, options.durable)
    if (reason === undefined) return canUndo
    tried.push({ path: dirname(journal.path), reason })
    if (move(journal, root, options.stateDirectory, tried)) continue
    if (bytes > neededForUndo && begin(journal, withoutUndo(content), options.durable) === undefined) return false
    throw new CommitError('no-state-directory', { operation: 'journal', tried })
  }
}

/** @returns the reason if the disk is too full */
function begin(journal: Journal, content: JournalContent, durable: boolean): string | undefined {
  try {
    journal.begin(storedChunks(content), durable)
    return undefined
  } catch (error) {
    const errno = errnoOf(error) ?? ''
    if (full.includes(errno)) return errno
    throw withFacts(error, { operation: 'journal', key: journal.path })
  }
}

/** Moves a journal to a folder that hasn't been tried yet. @returns false if there is none */
function move(
  journal: Journal,
  root: string,
  stateDirectory: string | undefined,
  tried: { path: string; reason: string }[],
): boolean {
  for (;;) {
    const next = makeStateDirectory(root, stateDirectory, tried)
    if (next === undefined) return false
    try {
      journal.moveTo(next.path)
      return true
    } catch (error) {
      const reason = errnoOf(error)
      if (reason === undefined) throw error
      tried.push({ path: next.path, reason })
    }
  }
}
