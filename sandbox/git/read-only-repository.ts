import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mount } from '../mount.ts'
import { encodePath, encodeText } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { randomName } from '../random-name.ts'
import { scrubbed } from './config-clean.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { readTarget } from './included-files.ts'
import { stateFiles } from './operation-state.ts'
import { readShownConfig } from './shown-config.ts'

/** How commands see repositories that have no private directory. */
type ReadOnlyView = {
  /** The repositories themselves, read-only, and the replacements for those of their entries that contain or may contain secrets. */
  readonly mounts: readonly Mount[]
  /** Files that contain secrets, wherever they are. */
  readonly hidden: readonly string[]
}

const configs: readonly string[] = ['config', 'config.worktree']
/** The entries in which git stores no URLs. They are shown as they are. */
const plain =
  /^(?:HEAD|objects|refs|packed-refs|index|sharedindex\..*|hooks|info|lfs|shallow|rr-cache|commondir|gitdir|locked|description|gc\.pid|git-daemon-export-ok)(?:\.lock)?$/s
/** The entries with texts that git writes. User names and passwords in URLs are removed from them; in a directory, from all files. */
const texts: ReadonlySet<string> = new Set([
  ...stateFiles,
  ...'logs rebase-merge rebase-apply sequencer branches remotes gc.log MERGE_RR TAG_EDITMSG NOTES_EDITMSG'.split(' '),
])
const searched: ReadonlySet<string> = new Set(['modules', 'worktrees', 'reftable'])
/** If more files of one directory than this contain secrets, the whole directory is hidden. */
const mostCleaned = 32
const largestText = 64 * 1024 * 1024
/** The maximum depth of the search for the git directories of submodules, whose names may contain slashes, but rarely this many. */
const deepest = 5

/**
 * Returns a function that gives the read-only view of repositories. Secrets are treated as in a private directory: settings and texts are shown
 * without them, and entries that a private directory wouldn't have, or that can't be cleaned, are hidden. The function's second argument lists other
 * files to hide, which may be inside the repositories.
 *
 * @param directory the run's own directory, where the cleaned copies are stored
 * @param rewritten the beginnings of addresses that only the sandbox's own settings may rewrite
 */
export function createReadOnlyViews(
  directory: string,
  hostGit: () => HostGit | undefined,
  rewritten: readonly string[],
): (repositories: readonly string[], secretFiles: readonly string[]) => ReadOnlyView {
  const known = new Map<string, ReadOnlyView & { readonly stamp: string }>()
  const look = (git: string): ReadOnlyView => {
    const host = holdIfThere(git)
    // The host has removed the repository since it was found.
    if (host === undefined) return { mounts: [], hidden: [] }
    try {
      const stamp = stampOf(host)
      const before = known.get(git)
      if (before?.stamp === stamp) return before
      const [mounts, hidden]: [Mount[], string[]] = [[{ path: git, as: 'read-only' }], []]
      clean({ git, host, directory, hostGit: hostGit(), rewritten, mounts, hidden })
      const view = { stamp, mounts, hidden }
      known.set(git, view)
      return view
    } finally {
      host.close()
    }
  }
  return (repositories, secretFiles) => {
    const views = [...new Set(repositories)].map(look)
    const mounts = views.flatMap((view) => view.mounts)
    const hidden = [...secretFiles, ...views.flatMap((view) => view.hidden)]
    return { mounts: [...mounts, ...refusedInside(hidden, mounts)], hidden }
  }
}

/** Mounts that hide those of the files that are inside read-only repositories, whose own mounts would show them again. */
function refusedInside(files: readonly string[], mounts: readonly Mount[]): readonly Mount[] {
  const known = new Set(mounts.map(({ path }) => path))
  return [...new Set(files)]
    .filter((file) => !known.has(file) && mounts.some(({ path }) => isWithin(file, path)))
    .filter((file) => lstatSync(encodePath(file), { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ path, as: 'refused-file' }))
}

function holdIfThere(git: string): HeldDirectory | undefined {
  try {
    return holdDirectory(encodePath(git))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}

/** A text that changes whenever a file that may contain secrets changes. */
function stampOf(host: HeldDirectory): string {
  const stamps: string[] = []
  const open = ['']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const [name, { kind, stamp }] of host.entries(path, (each) => path !== '' || !plain.test(each)) ?? []) {
      // In the git directory of a submodule, these directories contain no URLs either.
      if (path.startsWith('modules/') && /^(?:objects|refs|hooks|lfs)$/.test(name)) continue
      const entry = path === '' ? name : `${path}/${name}`
      stamps.push(`${entry} ${stamp}`)
      // Directories that are hidden as a whole aren't searched.
      if (kind === 'directory' && (path !== '' || texts.has(name) || searched.has(name))) open.push(entry)
    }
  }
  return stamps.join('\n')
}

type Work = {
  readonly git: string
  readonly host: HeldDirectory
  readonly directory: string
  readonly hostGit: HostGit | undefined
  readonly rewritten: readonly string[]
  readonly mounts: Mount[]
  readonly hidden: string[]
}

/** Adds the mounts for the entries of a repository, or of a work tree's own git directory, that can't be shown as they are. */
function clean(work: Work): void {
  const { git, host, hostGit, rewritten, hidden } = work
  const config = readShownConfig(git, host, hostGit, configs, { rewritten })
  hidden.push(...config.secretFiles)
  for (const [name, { kind }] of host.entries('') ?? []) {
    if (plain.test(name)) continue
    if (kind === 'link') hideTarget(work, name)
    else if (kind === 'file' && configs.includes(name)) {
      if (config.changed.has(name)) replace(work, name, encodeText(config.texts.get(name) ?? ''))
    } else if (kind === 'directory' && (name === 'modules' || name === 'worktrees')) cleanInside(work, name, 0)
    else if (kind === 'directory' && name === 'reftable' && isCleanLog(host, hostGit)) continue
    else if (texts.has(name)) cleanText(work, name)
    else hide(work, name, kind === 'directory')
  }
}

function cleanInside(work: Work, path: string, depth: number): void {
  for (const [name, { kind }] of work.host.entries(path) ?? []) {
    const entry = `${path}/${name}`
    if (kind === 'link') hideTarget(work, entry)
    else if (kind !== 'directory' || depth === deepest) hide(work, entry, kind === 'directory')
    else if (work.host.stat(`${entry}/HEAD`) === undefined) cleanInside(work, entry, depth + 1)
    else {
      const host = work.host.hold(entry)
      if (host === undefined) continue
      try {
        clean({ ...work, git: pathOf(work, entry), host })
      } finally {
        host.close()
      }
    }
  }
}

/** Replaces or hides those files of an entry that contain or may contain secrets. */
function cleanText(work: Work, top: string): void {
  const cleaned = new Map<string, Buffer | undefined>()
  const open = [top]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const kind = work.host.stat(path)?.kind
    if (kind === 'directory') for (const name of work.host.names(path) ?? []) open.push(`${path}/${name}`)
    else if (kind === 'link') hideTarget(work, path)
    else if (kind !== undefined) {
      const content = kind === 'file' ? work.host.read(path, largestText) : undefined
      const shown = content === undefined ? undefined : scrubbed(content)
      if (shown === undefined || shown !== content) cleaned.set(path, shown)
    }
  }
  if (cleaned.size > mostCleaned) return hide(work, top, true)
  for (const [path, shown] of cleaned) {
    if (shown === undefined) hide(work, path, false)
    else replace(work, path, shown)
  }
}

/** Whether the reflogs in a reftable, which only git can read, contain no secrets. */
function isCleanLog(host: HeldDirectory, hostGit: HostGit | undefined): boolean {
  const log = hostGit?.run(host, ['log', '-g', '--all', '--format=%gs'])
  return log?.ok === true && scrubbed(log.stdout) === log.stdout
}

/** Hides the file to which a symlink leads, if it contains secrets. Nothing can be mounted at the symlink itself. */
function hideTarget(work: Work, name: string): void {
  const target = readTarget(`${work.git}/${name}`)
  if (target === undefined) return
  if (target.content === undefined || scrubbed(target.content) !== target.content) work.hidden.push(target.path)
}

function hide(work: Work, name: string, isDirectory: boolean): void {
  work.mounts.push({ path: pathOf(work, name), as: isDirectory ? 'empty-directory' : 'refused-file' })
}

function replace(work: Work, name: string, content: Buffer): void {
  const source = join(work.directory, `config-${randomName(4)}`)
  writeFileSync(source, content, { flag: 'wx', mode: 0o644 })
  work.mounts.push({ path: pathOf(work, name), source, as: 'read-only' })
}

function pathOf({ git }: Work, name: string): string {
  return `${git}/${name}`
}
