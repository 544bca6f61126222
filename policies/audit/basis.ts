import type { Policy } from '../assessment.ts'
import type { OthersOpinions } from '../with-opinions.ts'

/** Paths, each with what was found out about it. */
type PathFacts = readonly (readonly [path: string, fact: string])[]

/**
 * What a verdict hung on besides the action, the rules, the permissions and the mode: with it the action can be judged again where neither
 * the machine nor the run is there any more. What is absent was not so, or was not looked at.
 */
export type AuditBasis = OthersOpinions & {
  /** It could not be done whatever anybody said, so nothing was judged: the verdict stands. */
  readonly refused?: true
  /** A rule, as a rule file has it, that the answer brought for the rest of the run. */
  readonly learned?: string
  /** Roots besides a patch's own that could be written. */
  readonly writableRoots?: readonly string[]
  /** Paths that were protected, with what obeys them. */
  readonly protects?: PathFacts
  /** Paths in places of the user's own, with the place. */
  readonly conceals?: PathFacts
  /** Paths that links led elsewhere, with where to. */
  readonly links?: PathFacts
  /** Paths that stood for others, such as in another worktree, with what they stood for. */
  readonly aliases?: PathFacts
}

/** A policy that remembers what the machine told it. */
type Observed = { readonly policy: Policy; readonly facts: () => AuditBasis }

/** The same policy, with what it finds out about paths noted. Each fact is noted once. */
export function observe(policy: Policy): Observed {
  const { protects, conceals, permissions } = policy
  const { realPath, alias } = permissions
  const [guarded, hidden, linked, aliased] = [notes(), notes(), notes(), notes()]
  return {
    policy: {
      ...policy,
      permissions: {
        ...permissions,
        ...(realPath === undefined ? {} : { realPath: (path) => noted(linked, path, realPath(path)) ?? path }),
        ...(alias === undefined ? {} : { alias: (path) => noted(aliased, path, alias(path)) }),
      },
      protects: protects && ((path, roots) => noted(guarded, path, protects(path, roots))),
      conceals:
        conceals &&
        ((paths) => {
          const found = conceals(paths)
          for (const { path, place } of found) hidden.set(path, place)
          return found
        }),
    },
    facts: () => ({
      ...factsOf('protects', guarded),
      ...factsOf('conceals', hidden),
      ...factsOf('links', linked),
      ...factsOf('aliases', aliased),
    }),
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

/** A policy that finds out about paths what was noted when they were judged, and nothing else. */
export function recall(policy: Policy, basis: AuditBasis): Policy {
  const [guarded, hidden] = [notes(basis.protects), notes(basis.conceals)]
  const [linked, aliased] = [notes(basis.links), notes(basis.aliases)]
  return {
    ...policy,
    permissions: {
      ...policy.permissions,
      realPath: (path) => linked.get(path) ?? path,
      alias: (path) => aliased.get(path),
    },
    writableRoots: basis.writableRoots ?? [],
    protects: (path) => guarded.get(path),
    conceals: (paths) =>
      paths.flatMap((path) => {
        const place = hidden.get(path)
        return place === undefined ? [] : [{ path, place }]
      }),
  }
}
