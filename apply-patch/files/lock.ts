import { lstatSync } from 'node:fs'
import { isAlive, isOwn, makeNonce, nameOwner, type Doubt, type OwnerId } from './journal-owner.ts'

/**
 * A file whose name says whose claim to a lock it is.
 *
 * @internal
 */
export type Claim = { readonly path: string; readonly owner: OwnerId }

type Attempt<Made> =
  | {
      readonly mine: Made
      readonly owner: OwnerId
      /** The claims of owners that have died, and earlier claims of this process. */
      readonly dead: readonly string[]
    }
  | {
      /** The claim of an owner that may be alive. */
      readonly alive: string
    }

type LockOptions = {
  /** The directory of the claim. */
  readonly directory: string
  /** What is assumed of the owner of a claim whose process can't be looked up. */
  readonly doubt: (claim: string) => Doubt
  /** Whether a process may take a lock that it holds already, as it must after it has replaced its program by another (execve(2)). */
  readonly retakes: boolean
}

/**
 * Tries once to take a lock: makes a claim, and then looks for other claims. Of two processes that do this at the same time, at least one sees the other's claim,
 * so no two ever hold the lock. A process that sees the claim of a live one withdraws its own. Names are never used twice, so a dead owner's claim can't be mistaken
 * for a live one's, and whoever removes it takes the lock from nobody.
 *
 * @internal
 * @param make makes the claim, a file that is not there yet; undefined if its directory has just been removed
 * @param find all claims to this lock
 */
export function tryToLock<Made extends { readonly path: string; readonly discard: () => void }>(
  make: (owner: OwnerId) => Made | undefined,
  find: (mine: string) => readonly Claim[],
  { directory, doubt, retakes }: LockOptions,
): Attempt<Made> {
  const owner = nameOwner(makeNonce())
  const mine = make(owner)
  if (mine === undefined) return { alive: directory }
  try {
    const dead: string[] = []
    for (const claim of find(mine.path)) {
      if (claim.path === mine.path) continue
      if (!(retakes && isOwn(claim.owner)) && isClaimAlive(claim, doubt)) {
        mine.discard()
        return { alive: claim.path }
      }
      dead.push(claim.path)
    }
    return { mine, owner, dead }
  } catch (error) {
    mine.discard()
    throw error
  }
}

/**
 * Whether the owner of a claim may still be alive.
 *
 * @internal
 */
export function isClaimAlive({ path, owner }: Claim, doubt: (claim: string) => Doubt): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && isAlive(owner, Date.now() - stats.mtimeMs, doubt(path))
}
