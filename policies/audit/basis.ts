import type { Policy } from '../assessment.ts'
import type { OthersOpinions } from '../with-opinions.ts'

/** Paths, each with the fact that was found. */
type PathFacts = readonly (readonly [path: string, fact: string])[]

/**
 * The facts behind a verdict besides the action, the rules, the permissions and the mode: with them the action can be judged again when
 * neither the machine nor the run exists any more. Absent facts were false or not examined.
 */
export type AuditBasis = OthersOpinions & {
  /** It was impossible regardless of approval, so nothing was judged, and the verdict stays. */
  readonly refused?: true
  /** A rule in the syntax of rule files that the answer added for the rest of the run. */
  readonly learned?: string
  /** Writable roots besides a patch's own. */
  readonly writableRoots?: readonly string[]
  /** Protected paths, with the programs that they control. */
  readonly protects?: PathFacts
  /** Paths in private directories of the user, with the directory. */
  readonly conceals?: PathFacts
  /** Paths that links led elsewhere, with their targets. */
  readonly links?: PathFacts
  /** Paths that represented others, such as in another worktree, with their originals. */
  readonly aliases?: PathFacts
}

/** A policy that records the facts of the machine that it used. */
type Observed = { readonly policy: Policy; readonly facts: () => AuditBasis }

/** The same policy, recording the facts that it finds about paths. Each fact is recorded once. */
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

/** A policy that answers questions about paths with the recorded facts, and nothing else. */
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
