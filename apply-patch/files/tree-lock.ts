import { basename, join } from 'node:path'
import { CommitError, errnoOf, withFacts } from './commit-error.ts'
import { createJournal, listJournals, type Journal } from './journal.ts'
import { noteLock } from './in-progress.ts'
import { processOf, type OwnerId } from './journal-owner.ts'
import { tryToLock, type Claim } from './lock.ts'
import { findStateDirectories, makeStateDirectory } from './state-directory.ts'

/** The exclusive right to change a tree. It lasts as long as the journal exists under a name that marks it as active. */
export type TreeLock = {
  readonly owner: OwnerId
  readonly journal: Journal
  /** Whether the folder of the journal was created just now. */
  readonly isNew: boolean
  /** Journals of runs that died during a commit, or could not roll back their commit or clean up after it. */
  readonly crashed: readonly string[]
  /** Must be called last, when this process no longer changes the tree and its journal is no longer active: until then, a signal doesn't end the program. */
  readonly release: () => void
}

/** Another run that is changing the tree. */
export type OtherRun = {
  /** The tree that both runs want to change. */
  readonly root: string
  /** Its process id; undefined if it runs in another container. */
  readonly process: number | undefined
}

/** How to lock a tree. */
export type LockOptions = {
  readonly stateDirectory?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called once if another run makes this one wait for longer than a moment. */
  readonly waits?: ((other: OtherRun) => void) | undefined
}

/** How many milliseconds to wait for another run before `waits` is called. Most commits are over by then. */
const momentMs = 500

/** How many milliseconds to wait for another run on the same tree. This is far longer than any commit takes. */
const patienceMs = 30_000

/**
 * Locks a tree. The claim to its lock is the run's journal. A run that sees the journal of another live run removes its own journal and tries again.
 *
 * @throws CommitError `busy`, `aborted`, `no-state-directory`, or `system` if the folder of the journals can't be written to
 */
export async function lockTree(root: string, options: LockOptions): Promise<TreeLock> {
  const began = Date.now()
  let isTold = false
  for (let round = 1; ; round += 1) {
    if (options.signal?.aborted === true) throw new CommitError('aborted', { cause: options.signal.reason })
    const { lock, alive } = attempt(root, options.stateDirectory)
    if (lock !== undefined) return lock
    const waited = Date.now() - began
    const other = { root, process: processOf(basename(alive).slice('active-'.length)) }
    if (waited > patienceMs) {
      throw new CommitError('busy', { operation: 'journal', key: root, journal: alive, process: other.process })
    }
    if (waited > momentMs && !isTold) {
      options.waits?.(other)
      isTold = true
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(5 * round, 100)))
  }
}

type Attempt =
  { readonly lock: TreeLock; readonly alive?: undefined } | { readonly lock?: undefined; readonly alive: string }

/** If it can't be checked whether a run is still alive, it counts as dead after this time. A commit takes far less. */
const doubt = () => ({ forMs: 10 * 60_000, elsewhere: false })

function attempt(root: string, stateDirectory: string | undefined): Attempt {
  try {
    let made: ReturnType<typeof createFirst> | undefined
    const create = (owner: OwnerId): Journal | undefined => {
      made = createFirst(root, stateDirectory, owner)
      return made.journal
    }
    // Looked for only after the claim is made: another run may make its own directory meanwhile.
    const directories = (): readonly string[] => [
      ...new Set([...(made === undefined ? [] : [made.directory]), ...findStateDirectories(root, stateDirectory)]),
    ]
    const tried = tryToLock(
      create,
      () => directories().flatMap(claimsIn),
      // Two commits of one process must not change a tree at the same time either.
      { directory: root, doubt, retakes: false },
    )
    if ('alive' in tried) return tried
    const { owner, mine: journal } = tried
    const isNew = made?.isNew === true
    try {
      const failed = directories().flatMap((each) => listJournals(each, 'failed').map((name) => join(each, name)))
      return { lock: { owner, journal, isNew, crashed: [...failed, ...tried.dead], release: noteLock() } }
    } catch (error) {
      journal.discard()
      throw error
    }
  } catch (error) {
    throw withFacts(error, { operation: 'journal' })
  }
}

/**
 * Creates a journal in the first folder that can hold it. It is undefined if another run has just removed the folder.
 *
 * @throws CommitError `no-state-directory`, which says for each folder why it can't be used
 */
function createFirst(
  root: string,
  stateDirectory: string | undefined,
  owner: OwnerId,
): { readonly directory: string; readonly isNew: boolean; readonly journal: Journal | undefined } {
  const tried: { path: string; reason: string }[] = []
  for (;;) {
    const found = makeStateDirectory(root, stateDirectory, tried)
    if (found === undefined) throw new CommitError('no-state-directory', { operation: 'journal', tried })
    const { path: directory, isNew } = found
    try {
      return { directory, isNew, journal: createJournal(directory, owner) }
    } catch (error) {
      const reason = errnoOf(error)
      if (reason === 'ENOENT') return { directory, isNew, journal: undefined }
      if (reason === undefined) throw error
      tried.push({ path: directory, reason })
    }
  }
}

function claimsIn(directory: string): readonly Claim[] {
  return listJournals(directory, 'active').map((name) => ({
    path: join(directory, name),
    owner: name.slice('active-'.length),
  }))
}
