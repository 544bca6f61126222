import type { HeldGit } from './git-directories.ts'
import { isInTheWay, type GitPlan } from './git-writes.ts'
import type { RefChange } from './ref-changes.ts'
import { isPlainName, isRefName, type Refs } from './refs.ts'

/** The places in which git looks for a name, in the order of gitrevisions(7). `refs/heads/NAME` is left out, because that is the branch itself. */
const places = ['NAME', 'refs/NAME', 'refs/tags/NAME', 'refs/remotes/NAME', 'refs/remotes/NAME/HEAD']

/**
 * Why a branch can't be created in a repository: it exists, or git would find it in place of something else, or something else in place of it.
 *
 * @param branch the full name
 * @param present all refs of the repository
 */
export function whyNoNewBranch(branch: string, { own, common }: HeldGit, present: Refs): string | undefined {
  const name = branch.replace(/^refs\/heads\//, '')
  if (!isRefName(branch) || name === branch) return 'it is not the name of a branch'
  if (!isPlainName(name)) return 'a shell would read it as more than a name'
  if (present.has(branch) || common.stat(branch)?.kind === 'file') return 'existing branches do not move'
  const folded = fold(branch)
  const twin = [...present.keys()].find((each) => fold(each) === folded)
  if (twin !== undefined) return `its name differs from ${twin} only in case`
  // Git reads such a name as a commit, or as one of its own files, such as HEAD or FETCH_HEAD.
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64}|@|[A-Z_]*HEAD|[A-Z]+_[A-Z_]+)$/.test(name))
    return 'git gives this name another meaning'
  const shadowed = places
    .map((each) => each.replace('NAME', name))
    .find((each) => present.has(each) || common.stat(each)?.kind === 'file' || own.stat(each)?.kind === 'file')
  if (shadowed !== undefined) return `its name would shadow ${shadowed}`
  return isInTheWay(common, branch) || common.stat(branch) !== undefined
    ? 'its name conflicts with another branch'
    : undefined
}

/**
 * Plans to create a branch that commands created. Everything else stays as it is.
 *
 * @returns why the ref doesn't change; undefined if the new branch was added to the plan
 */
export function planNewBranch(
  { change: { name, now = '' }, isCommit }: { readonly change: RefChange; readonly isCommit: boolean },
  {
    host,
    plan,
    present,
    faultOf,
  }: {
    readonly host: HeldGit
    readonly plan: GitPlan
    readonly present: Refs
    readonly faultOf: (commit: string) => string | undefined
  },
): string | undefined {
  const kind = /^refs\/(heads|tags|notes|stash)/.exec(name)?.[1]
  if (kind !== 'heads') return `${kinds[kind ?? ''] ?? 'such refs'} do not land`
  if (!isCommit) return 'it does not name a commit'
  const why = whyNoNewBranch(name, host, present) ?? faultOf(now)
  return why ?? plan.setRef({ name, old: undefined, now })
}

const kinds: Readonly<Record<string, string>> = { tags: 'tags', notes: 'notes', stash: 'stashes' }

/** The form of a name on file systems that don't distinguish upper and lower case, or different encodings of a letter. */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
