import { lstatSync } from 'node:fs'
import { runsLater, type Sandbox } from '../../../sandbox/index.ts'
import { ignoredOf, listedByGit } from './ask-git.ts'
import { composeChanges, differing, type FileChange, type Patched, type Watched } from './compose.ts'
import { keyOfPath, mostFiles, pathOfKey, stampFiles, walkFiles, type Stamps, type Unlisted } from './list-files.ts'
import { Manifests } from './manifests.ts'

/** A changed file that programs will execute or take commands from later, and one such program. */
type RunsLater = { readonly path: string; readonly kind: string; readonly program: string }

/** What a run changed. */
export type Changes = {
  readonly files: readonly FileChange[]
  /**
   * Changed files that programs will execute or take commands from later, such as package scripts and makefiles. Files that git ignores are included
   * if they are directly in the workspace's top directory.
   */
  readonly runsLater: readonly RunsLater[]
  /** The reason why `files` lacks the changes that commands made in a workspace; undefined if it includes all of them. */
  readonly notCounted: string | undefined
}

/** A source of information about the files that a run changed. */
export type ChangeSource = {
  /** Call and await this before each command that could write. */
  begin(place: { readonly workspace: string; readonly sandbox: Sandbox }): Promise<void>
  /** Returns the changes since the run began. Call this when no command is running any more. */
  settle(): Promise<Changes>
}

type Place = { readonly workspace: string; readonly sandbox: Sandbox }

type Beginning = Place & {
  readonly patchedBefore: ReadonlySet<string>
  /** How files are listed both before the first command and after the last one: by walking the directories, or by asking git. */
  readonly by: 'walk' | 'git'
  readonly listed: Stamps | Unlisted
}

/**
 * Finds out what commands wrote: it looks at a workspace just before the first command that could write to it, and again when the last
 * command has ended. A file counts as changed if it was written, even with the same bytes, or if its mode changed.
 */
export class ChangeWatch implements ChangeSource {
  readonly #patched: () => Patched
  readonly #own: string
  readonly #workspace: string
  readonly #manifests = new Manifests()
  readonly #begun = new Map<string, Promise<Beginning>>()

  /**
   * @param patched the files that the run's patches have changed so far
   * @param own the directory to which this program writes for the run. It may be inside the workspace; its files aren't counted
   */
  constructor(patched: () => Patched, own: string, workspace: string) {
    this.#patched = patched
    this.#own = own
    this.#workspace = workspace
    // The workspace's package.json is stored now, because a patch may change it before the first command runs.
    this.#manifests.keep(workspace, ['package.json'])
  }

  /** Call and await this before each command that could write. Lists the files of each workspace once, before the first such command in it. */
  async begin({ workspace, sandbox }: Place): Promise<void> {
    let begun = this.#begun.get(workspace)
    if (begun === undefined) {
      const patchedBefore = new Set(this.#patched().keys())
      begun = look({ workspace, sandbox }, patchedBefore)
      this.#begun.set(workspace, begun)
      const { listed } = await begun
      const unpatched =
        'too' in listed ? [] : [...listed.keys()].filter((key) => !patchedBefore.has(`${workspace}/${pathOfKey(key)}`))
      this.#manifests.keep(workspace, unpatched)
    }
    await begun
  }

  #later(change: FileChange, roots: readonly string[]): readonly RunsLater[] {
    const root = roots.find((each) => change.path.startsWith(`${each}/`)) ?? '/'
    const program = runsLater(change.path, root)
    if (program === undefined || !this.#manifests.mayRun(change.path)) return []
    return [{ path: change.path, kind: change.kind, program }]
  }

  /** Returns the changes since the run began. Call this when no command is running any more. */
  async settle(): Promise<Changes> {
    const patched = this.#patched()
    const watched: Watched[] = []
    let notCounted: string | undefined
    for (const beginning of await Promise.all(this.#begun.values())) {
      const { workspace: root, patchedBefore, listed: before } = beginning
      // In a workspace that no longer exists, there is nothing to compare.
      if (!isThere(root)) continue
      const after = 'too' in before ? before : await list(beginning, beginning.by)
      if ('too' in before || 'too' in after) {
        notCounted = describe(root, 'too' in before ? before : (after as Unlisted))
        continue
      }
      const differ = differing(before, after)
      const ignored = differ.length === 0 || beginning.by === 'git' ? undefined : await ignoredOf(differ, beginning)
      const ours = differ.filter((key) => `${root}/${pathOfKey(key)}`.startsWith(`${this.#own}/`))
      watched.push({ root, before, after, patchedBefore, ignored: new Set([...(ignored ?? []), ...ours]) })
    }
    const files = composeChanges(patched, watched, isThere)
    const roots = [...this.#begun.keys(), this.#workspace]
    const all = [...files, ...ignoredAtTop(watched)]
    return { files, runsLater: all.flatMap((change) => this.#later(change, roots)), notCounted }
  }
}

/**
 * Returns the changed files that git ignores and that are directly in a workspace's top directory. Ignored files further down are left out, because most are
 * build output.
 */
function ignoredAtTop(watched: readonly Watched[]): readonly FileChange[] {
  return composeChanges(
    new Map(),
    watched.map((each) => ({ ...each, ignored: new Set() })),
    isThere,
  ).filter(({ path }) =>
    watched.some(
      ({ root, ignored }) =>
        path.startsWith(`${root}/`) &&
        ignored.has(keyOfPath(path.slice(root.length + 1))) &&
        !path.slice(root.length + 1).includes('/'),
    ),
  )
}

/**
 * Lists the files of a workspace before the first command. It walks the directories first, because that needs no other process. If there are too many
 * files or the walk takes too long, it asks git instead, which leaves out ignored files.
 */
async function look(place: Place, patchedBefore: ReadonlySet<string>): Promise<Beginning> {
  const walked = await list(place, 'walk')
  if (!('too' in walked)) return { ...place, patchedBefore, by: 'walk', listed: walked }
  return { ...place, patchedBefore, by: 'git', listed: await list(place, 'git', walked) }
}

async function list(
  place: Place,
  by: 'walk' | 'git',
  otherwise: Unlisted = { too: 'slow' },
): Promise<Stamps | Unlisted> {
  if (by === 'walk') return walkFiles(place.workspace)
  const known = await listedByGit(place)
  if (known === undefined) return otherwise
  return known.size > mostFiles ? { too: 'many' } : stampFiles(place.workspace, known)
}

function describe(root: string, { too }: Unlisted): string {
  return too === 'many' ? `${root} contains more than ${mostFiles} files` : `scanning ${root} took too long`
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
