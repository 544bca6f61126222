import { keyOfPath, pathOfKey, type Stamps } from './list-files.ts'

/** The net change that a run made to a file. */
export type FileChange = {
  readonly path: string
  /** The kind of the change: `add`, `update` or `delete`. */
  readonly kind: string
  /** `command`: only commands changed the file. Absent: a patch did, and perhaps commands too. */
  readonly by?: 'command'
}

/** The kinds of the first and the last change that patches made to each file, by path. */
export type Patched = ReadonlyMap<string, { readonly first: string; readonly last: string }>

/** The state of a workspace before the first command that could write to it, and after the last command. */
export type Watched = {
  /** The absolute path of the workspace. */
  readonly root: string
  readonly before: Stamps
  readonly after: Stamps
  /** The keys of changed files that don't count: those that git ignores, and those that this program wrote itself. */
  readonly ignored: ReadonlySet<string>
  /** The files that patches had changed before the first command. */
  readonly patchedBefore: ReadonlySet<string>
}

/** Returns the keys of the files that were written, created or removed between two listings. */
export function differing(before: Stamps, after: Stamps): readonly string[] {
  const written = [...after].filter(([key, stamp]) => before.get(key) !== stamp).map(([key]) => key)
  return [...written, ...[...before.keys()].filter((key) => !after.has(key))]
}

/**
 * Merges the changes made by patches and commands. A file counts once, however often it was changed. In a watched workspace, a file that was created
 * and removed again doesn't count; elsewhere, the last patch to a file decides.
 *
 * @param isThere returns whether a file that a patch changed exists now
 */
export function composeChanges(
  patched: Patched,
  watched: readonly Watched[],
  isThere: (path: string) => boolean,
): readonly FileChange[] {
  const byPatches = [...patched].flatMap(([path, { first, last }]): readonly FileChange[] => {
    const place = watched.find(({ root }) => path.startsWith(`${root}/`))
    if (place === undefined) return [{ path, kind: last }]
    const kind = kindOf(wasThere(path, first, place), isThere(path))
    return kind === undefined ? [] : [{ path, kind }]
  })
  const byCommands = watched.flatMap(({ root, before, after, ignored }) =>
    differing(before, after)
      // `.gitignore` files never count as ignored.
      .filter((key) => !ignored.has(key) || /(?:^|\/)\.gitignore$/.test(key))
      .map((key) => ({ path: `${root}/${pathOfKey(key)}`, kind: kindOf(before.has(key), after.has(key)) ?? 'update' }))
      .filter(({ path }) => !patched.has(path))
      .map((change) => ({ ...change, by: 'command' as const })),
  )
  return [...byPatches, ...byCommands]
}

/**
 * Whether a file existed before the run. If a patch changed the file before the first command, or the file is in neither listing, the kind of the
 * first patch decides. Otherwise, the listing from before the first command decides, because a command may have created the file before the patch.
 */
function wasThere(path: string, first: string, { root, before, after, patchedBefore }: Watched): boolean {
  const key = keyOfPath(path.slice(root.length + 1))
  const isListed = before.has(key) || after.has(key)
  return patchedBefore.has(path) || !isListed ? first !== 'add' : before.has(key)
}

function kindOf(before: boolean, after: boolean): string | undefined {
  if (before && after) return 'update'
  if (after) return 'add'
  return before ? 'delete' : undefined
}
