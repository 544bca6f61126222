import type { Action } from '../action.ts'
import type { Policy } from '../assessment.ts'
import type { OthersOpinions } from '../with-opinions.ts'

/** Facts about paths, as pairs of a path and a fact. */
type PathFacts = readonly (readonly [path: string, fact: string])[]

/**
 * The facts behind a verdict, apart from the action, the rules, the permissions and the approval mode. With them, the action can be judged again when
 * the machine and the run no longer exist. If a field is absent, the fact wasn't true or wasn't examined.
 */
export type AuditBasis = OthersOpinions & {
  /**
   * Set if the rules weren't consulted, because the action was impossible, a hook refused it, or it was a request that a credential allows. A replay keeps
   * the recorded verdict.
   */
  readonly refused?: true
  /** A rule, in the syntax of rule files, that the reviewer's answer added for the rest of the run. */
  readonly learned?: string
  /** For a command: set if it works on a private view. */
  readonly onView?: true
  /** For a patch or a command: the writable roots other than its own. */
  readonly writableRoots?: readonly string[]
  /** Protected paths, each with the protected place that contains it. */
  readonly protects?: PathFacts
  /** Paths in the user's private directories, each with the directory that contains it. */
  readonly conceals?: PathFacts
  /** Paths at which the command's sandbox shows nothing. */
  readonly hides?: PathFacts
  /** Paths that lead elsewhere through links, each with its target. */
  readonly links?: PathFacts
}

/** A policy, and a function that returns the facts about the machine that the policy has used so far. */
type Observed = { readonly policy: Policy; readonly facts: (action: Action) => AuditBasis }

/** Wraps a policy so that it records the facts that it finds about paths. */
export function observe(policy: Policy): Observed {
  const { protects, conceals, hides, permissions } = policy
  const { realPath } = permissions
  const [guarded, hidden, unseen, linked] = [notes(), notes(), notes(), notes()]
  return {
    policy: {
      ...policy,
      permissions: {
        ...permissions,
        ...(realPath === undefined ? {} : { realPath: (path) => noted(linked, path, realPath(path)) ?? path }),
      },
      protects: protects && ((path, roots) => noted(guarded, path, protects(path, roots))),
      conceals:
        conceals &&
        ((paths) => {
          const found = conceals(paths)
          for (const { path, place } of found) hidden.set(path, place)
          return found
        }),
      hides: hides && ((path) => noted(unseen, path, hides(path) ? 'not shown' : undefined) !== undefined),
    },
    facts: (action) => ({
      ...groundsOf(action, policy),
      ...factsOf('protects', guarded),
      ...factsOf('conceals', hidden),
      ...factsOf('hides', unseen),
      ...factsOf('links', linked),
    }),
  }
}

/** What a verdict depended on besides facts about paths: where the run works. */
function groundsOf(action: Action, { onView, writableRoots }: Policy): AuditBasis {
  const isExec = action.type === 'exec'
  return {
    ...(isExec && onView === true ? { onView } : {}),
    ...((isExec || action.type === 'patch') && writableRoots.length > 0 ? { writableRoots } : {}),
  }
}

type Notes = Map<string, string>

function notes(facts: PathFacts = []): Notes {
  return new Map(facts)
}

function noted(kept: Notes, path: string, fact: string | undefined): string | undefined {
  if (fact !== undefined && fact !== path) kept.set(path, fact)
  return fact
}

function factsOf(name: string, kept: Notes): Readonly<Record<string, PathFacts>> {
  return kept.size === 0 ? {} : { [name]: [...kept] }
}

/** Returns a policy that answers questions about paths only from the recorded facts. */
export function recall(policy: Policy, basis: AuditBasis): Policy {
  const [guarded, hidden, linked] = [notes(basis.protects), notes(basis.conceals), notes(basis.links)]
  const unseen = notes(basis.hides)
  return {
    ...policy,
    permissions: {
      ...policy.permissions,
      realPath: (path) => linked.get(path) ?? path,
    },
    onView: basis.onView,
    writableRoots: basis.writableRoots ?? [],
    protects: (path) => guarded.get(path),
    hides: (path) => unseen.has(path),
    conceals: (paths) =>
      paths.flatMap((path) => {
        const place = hidden.get(path)
        return place === undefined ? [] : [{ path, place }]
      }),
  }
}
