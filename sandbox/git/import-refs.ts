import { decodeText, encodeText } from '../path-bytes.ts'
import { moveBranch } from './move-branch.ts'
import { isDamaged } from './refs.ts'
import type { ImportNote, ImportResult, ImportSides, Known } from './import-types.ts'

/** A ref that commands changed; an undefined value means that the ref doesn't exist. */
type RefChange = { readonly name: string; readonly old: string | undefined; readonly now: string | undefined }

/** The identity in the line that git adds to the host's reflog. That line is replaced if the lines from the sandbox can be imported. */
const identity = {
  GIT_COMMITTER_NAME: 'Portcullis',
  GIT_COMMITTER_EMAIL: 'portcullis@localhost',
  GIT_AUTHOR_NAME: 'Portcullis',
  GIT_AUTHOR_EMAIL: 'portcullis@localhost',
}

/** The refs that commands changed. */
export function changedRefs(known: Known, left: ReadonlyMap<string, string>): readonly RefChange[] {
  const names = new Set([...known.refs.keys(), ...left.keys()])
  return [...names].flatMap((name) => {
    const [old, now] = [known.refs.get(name), left.get(name)]
    return old === now ? [] : [{ name, old, now }]
  })
}

/**
 * Imports changed refs. A ref is imported only if the host still has the value that the commands started from. If the host has changed the ref in the
 * meantime, the host's value stays, and the commands' value is stored below `refs/portcullis/RUN/`. A ref that commands have damaged counts neither
 * as removed nor as moved back to an earlier value.
 *
 * @param options.exists returns whether the host has an object
 * @param options.isLogged returns whether the new value of a branch is already in reflog lines that will be imported. Git then need not add a line
 * @param options.commits objects that are known to be commits
 */
export async function importRefs(
  sides: ImportSides,
  known: Known,
  changes: readonly RefChange[],
  options: {
    readonly exists: (oid: string) => boolean
    readonly isLogged: (name: string, oid: string) => boolean
    readonly commits: ReadonlySet<string>
  },
): Promise<ImportResult & { readonly refused: ReadonlySet<string> }> {
  const notes: ImportNote[] = []
  const refused = new Set<string>()
  const plain: RefChange[] = []
  for (const change of changes) {
    if (isDamaged(sides.left, change.name, sides.oidBytes)) {
      refused.add(change.name)
      notes.push({
        subject: `${change.name} (the file that the command left in its place is not a ref)`,
        advice: 'the ref stays as it was in your repository; repeat the change with git if you want it',
      })
    } else if (change.now?.startsWith('ref: ') === true || change.old?.startsWith('ref: ') === true) {
      if (!importSymbolic(sides, known, change)) refused.add(change.name)
    } else if (change.now !== undefined && !options.exists(change.now)) {
      refused.add(change.name)
      notes.push({
        subject: `${change.name} (it refers to an object that does not exist)`,
        advice: "check the command's changes",
      })
    } else plain.push(change)
  }
  // Removals come first, because `a` may have to be removed before `a/b` can be created.
  plain.sort((a, b) => Number(a.now !== undefined) - Number(b.now !== undefined))
  const all = plain.length === 0 || (await moveOne(sides, plain, options)) || update(sides, plain)
  for (const change of plain) {
    if (all || update(sides, [change])) {
      setOrDelete(known.refs, change.name, change.now)
      continue
    }
    refused.add(change.name)
    const kept = `refs/portcullis/${sides.run}/${change.name.slice('refs/'.length)}`
    const isKept = change.now !== undefined && update(sides, [{ name: kept, old: undefined, now: change.now }], true)
    notes.push({
      subject: `${change.name} (it could not be set, probably because it was also moved on the host in the meantime${isKept ? `; the command's version is ${kept}` : ''})`,
      advice: isKept
        ? `merge ${kept} if you want it, and then run git update-ref -d ${kept}`
        : 'repeat the change by hand if you want it',
    })
  }
  return { notes, stale: refused.size > 0, refused }
}

/** If the only change is a new commit on a branch, moves the branch without starting git. Returns whether the branch was moved. */
async function moveOne(
  sides: ImportSides,
  [only, ...rest]: readonly RefChange[],
  { isLogged, commits }: Pick<Parameters<typeof importRefs>[3], 'isLogged' | 'commits'>,
): Promise<boolean> {
  if (only === undefined || rest.length > 0 || !only.name.startsWith('refs/heads/')) return false
  const { name, old, now } = only
  if (old === undefined || now === undefined || !commits.has(now) || !isLogged(name, now)) return false
  return moveBranch(sides, { name, old, now })
}

/** Updates refs with git. Either all changes are made or none. */
function update({ git, host, oidBytes }: ImportSides, changes: readonly RefChange[], force = false): boolean {
  const none = '0'.repeat(oidBytes * 2)
  const input = changes
    .map(({ name, old, now }) => {
      const head = 'option no-deref\0'
      if (now === undefined) return `${head}delete ${name}\0${old ?? none}\0`
      return `${head}update ${name}\0${now}\0${force ? '' : (old ?? none)}\0`
    })
    .join('')
  const words = ['update-ref', '-m', 'portcullis: taken over', '--stdin', '-z']
  return git.run(host, words, { input: encodeText(input), env: identity }).ok
}

/** Imports a change of `refs/remotes/NAME/HEAD`, which names a remote's default branch. */
function importSymbolic({ git, host }: ImportSides, known: Known, { name, old, now }: RefChange): boolean {
  const remote = /^refs\/remotes\/([^/]+)\/HEAD$/.exec(name)?.[1]
  const target = now?.slice('ref: '.length)
  if (remote === undefined || now?.startsWith('ref: ') !== true || target === undefined) return false
  if (!target.startsWith(`refs/remotes/${remote}/`) || /[^\x21-\x7e]/.test(`${name}${target}`)) return false
  const before = git.run(host, ['symbolic-ref', '-q', name])
  const current = before.ok ? `ref: ${decodeText(before.stdout).replace(/\n$/, '')}` : undefined
  if (current !== old || !git.run(host, ['symbolic-ref', name, target]).ok) return false
  known.refs.set(name, now)
  return true
}

function setOrDelete(refs: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) refs.delete(name)
  else refs.set(name, value)
}
