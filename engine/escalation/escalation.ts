import type { Grant } from '../../policies/index.ts'
import type { KnownPlaces, Place, Sandbox, SandboxPolicy } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { holdGrant, lostPath, requireHeld, type HeldGrant } from './held-grants.ts'
import { makeGranted } from './make-granted.ts'
import { escalatePolicy } from './escalate-policy.ts'

/** Grants whose paths are held open while a reviewer is asked about them. */
export type AskedGrants = {
  /**
   * Prepares the approved grants for use. A path that the reviewer was asked about has been held open since before the question; any other path is opened now.
   */
  readonly approved: (grants: readonly Grant[]) => readonly HeldGrant[]
  /** Closes the files and folders that were held open, except those for which access was approved for the whole run. */
  readonly release: () => void
}

/** The sandboxes of a run: its own, and those that were opened with additional grants. */
export type Escalation = {
  /** Opens the files and folders that grants name, and holds them open. Call this before anybody is asked about the grants. */
  readonly ask: (grants: readonly Grant[]) => AskedGrants
  /**
   * Returns a sandbox with the run's own policy, extended by the standing grants (those approved for the whole run) and by the given grants. Throws
   * `SandboxError` if no backend on this machine can enforce that policy, or, with the code `path-changed`, if a path no longer leads to what was
   * approved. For a standing grant, `path-changed` is thrown only once; after that, the grant is suspended while its path leads to something else.
   */
  readonly sandboxFor: (grants: readonly HeldGrant[]) => Promise<Sandbox>
  /** Turns grants into standing grants, which apply to all later commands of the run. */
  readonly keep: (grants: readonly HeldGrant[]) => void
  /**
   * Closes the escalated sandboxes and the paths that are held open, and removes the files that were created for grants if nobody wrote to them.
   * Whoever opened the run's own sandbox closes it.
   */
  readonly close: () => Promise<void>
}

/**
 * Creates the sandboxes of a run. Sandboxes with additional grants are kept open, because a sandbox that was needed once is usually needed again.
 *
 * @param open opens a sandbox for a policy, with the options of the run's own sandbox; `known`: the places that the policy's paths refer to
 */
export function createEscalation(
  own: Sandbox,
  open: (policy: SandboxPolicy, known?: KnownPlaces) => Promise<Sandbox>,
): Escalation {
  const { backend } = own
  const opened = new Map<string, Promise<Sandbox>>()
  const standing = new Map<string, HeldGrant>()
  const told = new Set<string>()
  const takeAway: (() => void)[] = []

  /** Holds the path of a grant open. A grant inside an approved path is valid only as long as the approved path leads to the same place. */
  const hold = (grant: Grant): HeldGrant => {
    const known = standing.get(keyOf(grant))
    if (known !== undefined) return known
    const around = [...standing.values()].filter(({ grant: by }) => isPartOf(grant, by))
    const lost = around.find((each) => lostPath(each) !== undefined)
    return lost === undefined ? holdGrant(grant, own.policy.views) : { grant, at: '', place: undefined }
  }

  /**
   * Returns the standing grants whose paths still lead to what was approved. If a path doesn't, the first call throws, and later calls leave that grant out.
   */
  const holding = (): readonly HeldGrant[] =>
    [...standing].flatMap(([key, held]) => {
      if (lostPath(held) === undefined) return [held]
      if (told.has(key)) return []
      told.add(key)
      requireHeld(held, backend)
      return []
    })

  /** Creates the file of a grant if it doesn't exist yet. */
  const settle = (held: HeldGrant): HeldGrant => {
    const made = makeGranted(held)
    if (made === undefined) return held
    takeAway.push(made.takeAway)
    if (standing.has(keyOf(held.grant))) standing.set(keyOf(held.grant), made.grant)
    return made.grant
  }

  return {
    ask: (grants) => {
      const asked = new Map(grants.map((grant) => [keyOf(grant), hold(grant)]))
      return {
        approved: (approved) =>
          approved.map((grant) => {
            const held = asked.get(keyOf(grant)) ?? hold(grant)
            asked.set(keyOf(grant), held)
            return held
          }),
        release: () => {
          for (const [key, { place }] of asked) if (standing.get(key)?.place !== place) place?.close()
        },
      }
    },
    keep: (grants) => {
      for (const held of grants) standing.set(keyOf(held.grant), held)
    },
    sandboxFor: async (grants) => {
      for (const held of grants) requireHeld(held, backend)
      const all = new Map([...holding(), ...grants].map((held) => [keyOf(held.grant), held] as const))
      if (all.size === 0) return own
      const held = [...all.values()].map(settle)
      for (const each of held) requireHeld(each, backend)
      const key = held.map(describe).toSorted().join('\n')
      const known = knownWith(own, held)
      const sandbox =
        opened.get(key) ??
        open(
          escalatePolicy(
            own.policy,
            held.map(({ grant }) => grant),
          ),
          known,
        )
      opened.set(key, sandbox)
      // A sandbox that could not be opened is forgotten, because opening it may succeed later.
      sandbox.catch(() => opened.delete(key))
      return sandbox
    },
    close: async () => {
      for (const sandbox of opened.values()) {
        await sandbox.then(
          (one) => one.close(),
          () => undefined,
        )
      }
      for (const unused of takeAway) unused()
      for (const { place } of standing.values()) place?.close()
    },
  }
}

/** Returns the places of the run's own paths and of the granted paths. */
function knownWith(own: Sandbox, grants: readonly HeldGrant[]): KnownPlaces {
  const known = own.known?.()
  const granted = grants.flatMap(({ grant, place, makes }): readonly (readonly [string, Place | undefined])[] =>
    // If the file could not be created, the sandbox treats it as missing, even if somebody creates it later.
    'path' in grant ? [[grant.path, makes === undefined ? place : undefined]] : [],
  )
  return { places: new Map([...(known?.places ?? []), ...granted]), denied: known?.denied ?? [] }
}

function keyOf(grant: Grant): string {
  return JSON.stringify(grant)
}

/** Describes a grant and its place. Two descriptions are equal only if both the grant and the place are the same. */
function describe({ grant, place }: HeldGrant): string {
  return `${keyOf(grant)} ${place?.identity.device}:${place?.identity.inode}`
}

function isPartOf(grant: Grant, by: Grant): boolean {
  return 'path' in grant && 'path' in by && grant.kind === by.kind && isInside(grant.path, by.path)
}
