import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { CommitError, errnoOf, withFacts } from './commit-error.ts'
import { createJournal, listJournals, type Journal } from './journal.ts'
import { noteLock } from './in-progress.ts'
import { isAlive, makeNonce, nameOwner, type OwnerId } from './journal-owner.ts'
import { findStateDirectories, makeStateDirectory } from './state-directory.ts'

/** The exclusive right to change a tree. It lasts as long as the journal exists under a name that marks it as active. */
export type TreeLock = {
  readonly owner: OwnerId
  readonly journal: Journal
  /** The folder of the journal. */
  readonly directory: string
  /** Whether this folder was created just now. */
  readonly isNew: boolean
  /** Journals of runs that died during a commit, or could not roll back their commit or clean up after it. */
  readonly crashed: readonly string[]
  /** Must be called last, when this process no longer changes the tree and its journal is no longer active: until then, a signal doesn't end the program. */
  readonly release: () => void
}

/** How many milliseconds to wait for another run on the same tree. This is far longer than any commit takes. */
const patienceMs = 30_000

/**
 * Locks a tree by creating a journal and then looking for journals of other runs. If two runs do this at the same time, at least one of them sees the other's
 * journal. A run that sees the journal of another live run removes its own journal and tries again. Names are never used twice, so a dead run's journal can't
 * be mistaken for a live one's.
 *
 * @throws CommitError `busy`, `aborted`, `no-state-directory`, or `system` if the folder of the journals can't be written to
 */
export async function lockTree(
  root: string,
  options: { readonly stateDirectory?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<TreeLock> {
  const began = Date.now()
  for (let round = 1; ; round += 1) {
    if (options.signal?.aborted === true) throw new CommitError('aborted', { cause: options.signal.reason })
    const { lock, alive } = tryToLock(root, options.stateDirectory)
    if (lock !== undefined) return lock
    if (Date.now() - began > patienceMs) throw new CommitError('busy', { operation: 'journal', journal: alive })
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(5 * round, 100)))
  }
}

type Attempt =
  { readonly lock: TreeLock; readonly alive?: undefined } | { readonly lock?: undefined; readonly alive: string }

function tryToLock(root: string, stateDirectory: string | undefined): Attempt {
  let journal: Journal | undefined
  try {
    const { path: directory, isNew } = makeStateDirectory(root, stateDirectory)
    const owner = nameOwner(makeNonce())
    journal = createJournalIn(directory, owner)
    // Another run removed the folder between the two calls; the next attempt creates it again.
    if (journal === undefined) return { alive: directory }
    const { alive, crashed } = findOthers(root, stateDirectory, directory, journal.path)
    if (alive === undefined) return { lock: { owner, journal, directory, isNew, crashed, release: noteLock() } }
    journal.discard()
    return { alive }
  } catch (error) {
    journal?.discard()
    throw withFacts(error, { operation: 'journal' })
  }
}

function createJournalIn(directory: string, owner: OwnerId): Journal | undefined {
  try {
    return createJournal(directory, owner)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The journals of other runs on a tree: that of a live run if there is one, otherwise those that belong in `TreeLock.crashed`. */
function findOthers(
  root: string,
  stateDirectory: string | undefined,
  own: string,
  ours: string,
): { readonly alive: string | undefined; readonly crashed: readonly string[] } {
  const crashed: string[] = []
  for (const directory of new Set([own, ...findStateDirectories(root, stateDirectory)])) {
    crashed.push(...listJournals(directory, 'failed').map((name) => join(directory, name)))
    for (const name of listJournals(directory, 'active')) {
      const path = join(directory, name)
      if (path === ours) continue
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (stats === undefined) continue
      if (isAlive(name.slice('active-'.length), Date.now() - stats.mtimeMs)) return { alive: path, crashed: [] }
      crashed.push(path)
    }
  }
  return { alive: undefined, crashed }
}
