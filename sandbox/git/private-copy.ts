import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { scrubbed } from './config-clean.ts'
import { encodePath, encodeText } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { assumeUnchanged } from './index-file.ts'
import { areSameRefs, parseRef, readRefs, sharedRefs, writePackedRefs, type Refs } from './refs.ts'
import { shownIndex } from './shown-index.ts'
import { stateDirectories, stateFiles } from './operation-state.ts'

/** A work tree of a repository: the main one, or a linked one. */
export type WorktreeScope = {
  /** The prefix of the work tree's git files in the repository's directory: empty, or `worktrees/NAME/`. */
  readonly prefix: string
  /** The directory of the work tree, without symlinks; undefined if it is unknown, or if the repository is bare. */
  readonly worktree: string | undefined
  /** Whether commands may change the work tree. If so, their changes to its git files are imported. */
  readonly writable: boolean
}

/** The contents of the host's repository and of the private one when the copy was made. Later changes are found by comparing with them. */
type Baseline = {
  readonly refs: Refs
  /** The content of files in the private directory, by path. */
  readonly files: ReadonlyMap<string, Buffer>
  /** The content of the host's originals, by path. Unlike the private copies, they may contain secrets. */
  readonly raw: ReadonlyMap<string, Buffer>
}

const [largestFile, largestIndex, largestLog] = [16 * 1024 * 1024, 1024 * 1024 * 1024, 64 * 1024 * 1024]
/**
 * An index of up to this size in bytes (about 150 files) is not adapted (see `shownIndex`). Git can read so few files in less time than we need to
 * load the hash function for an adapted index.
 */
const worthShowing = 12 * 1024
/** The directories that each copy has, outer ones first. The host's objects and Git LFS files are mounted in `portcullis`. */
const directories = [
  'objects',
  'portcullis',
  'portcullis/objects',
  'portcullis/lfs',
  'refs',
  'refs/heads',
  'refs/tags',
  'info',
]
const common = ['shallow', 'description', 'info/exclude', 'info/attributes', 'info/grafts', 'info/sparse-checkout']

/**
 * Makes a private copy of a repository's directory, without objects. The copy is made in a new directory, so that no link that a command has left can
 * redirect a write. Returns undefined if the repository is of a kind that this program can't read, or if the copy doesn't have exactly the same refs:
 * a ref that it lacked would later count as deleted by a command.
 *
 * @param config the texts of the repository's config files, by path
 * @param modules names of submodules whose git directories will be mounted
 * @param denied paths in the work trees that commands can't read
 */
export function makePrivateCopy(
  host: HeldDirectory,
  path: string,
  options: {
    readonly oidBytes: number
    readonly scopes: readonly WorktreeScope[]
    readonly config: ReadonlyMap<string, string>
    readonly modules: readonly string[]
    readonly denied: readonly string[]
    /** Whether the caller's files appear to commands as owned by the user and group that `shownOwner` returns. */
    readonly showsOwner: boolean
    /** Directories to create in the copy, at which borrowed objects will be mounted. */
    readonly borrowed: readonly string[]
  },
): Baseline | undefined {
  // Not supported: a repository that `git-new-workdir` or a similar tool linked to another one, and a repository whose refs are not stored in files.
  if (host.stat('refs')?.kind !== 'directory' || host.stat('objects')?.kind !== 'directory') return undefined
  const all = readRefs(host, options.oidBytes)
  if (all === undefined) return undefined
  const refs = sharedRefs(all)
  const [files, raw] = [new Map<string, Buffer>(), new Map<string, Buffer>()]
  mkdirSync(path, { recursive: true, mode: 0o755 })
  const made = new Set([path])
  for (const directory of directories) {
    mkdirSync(`${path}/${directory}`, { mode: 0o755 })
    made.add(`${path}/${directory}`)
  }
  for (const name of options.borrowed) mkdirSync(join(path, name), { recursive: true })
  for (const name of options.modules) mkdirSync(encodePath(`${path}/modules/${name}`), { recursive: true })
  const put = (name: string, content: Buffer, mode = 0o644): void => {
    const file = `${path}/${name}`
    if (!made.has(dirname(file))) mkdirSync(encodePath(dirname(file)), { recursive: true })
    made.add(dirname(file))
    writeFileSync(encodePath(file), content, { flag: 'wx', mode })
  }
  const copy = (name: string, most = largestFile, change = (content: Buffer): Buffer => content): void => {
    const content = host.read(name, most)
    if (content === undefined) return
    raw.set(name, content)
    const clean = change(content)
    files.set(name, clean)
    put(name, clean)
  }
  const within = (directory: string, most: number): void => {
    for (const name of host.names(directory) ?? []) {
      const kind = host.stat(`${directory}/${name}`)?.kind
      if (kind === 'directory') within(`${directory}/${name}`, most)
      else if (kind === 'file') copy(`${directory}/${name}`, most, scrubbed)
    }
  }
  put('packed-refs', writePackedRefs(refs))
  for (const [name, value] of refs) if (value.startsWith('ref: ')) put(name, encodeText(`${value}\n`))
  const trees = options.scopes.flatMap(({ worktree }) => worktree ?? [])
  const hidden = new Map(trees.map((tree) => [tree, namesBelow(tree, options.denied)]))
  const excluded = [...new Set([...hidden.values()].flat())]
  for (const name of common) if (name !== 'info/sparse-checkout' && name !== 'info/exclude') copy(name)
  const exclude = host.read('info/exclude', largestFile)
  if (exclude !== undefined || excluded.length > 0) put('info/exclude', withExcluded(exclude, excluded))
  within('logs/refs/heads', largestLog)
  copy('logs/refs/stash', largestLog, scrubbed)
  copyHooks(host, put, path)
  for (const { prefix, worktree } of options.scopes) {
    const head = host.read(`${prefix}HEAD`, 4096)
    if (parseRef(head, options.oidBytes) === undefined) {
      if (prefix === '') return undefined
      continue
    }
    copy(`${prefix}HEAD`)
    copy(`${prefix}logs/HEAD`, largestLog, scrubbed)
    if (prefix !== '') for (const name of ['commondir', 'gitdir', 'locked']) copy(`${prefix}${name}`)
    const unseen = (worktree === undefined ? undefined : hidden.get(worktree)) ?? []
    const index = `${prefix}index`
    const modifiedMs = host.stat(index)?.modifiedMs
    copy(index, largestIndex, (content) => {
      const known = options.showsOwner && content.length > worthShowing ? shownIndex(content) : content
      return assumeUnchanged(known, unseen, options.oidBytes, host.stat(`${prefix}info/sparse-checkout`) !== undefined)
    })
    // The copy gets the original's modification time: if the index were newer than the original, git could overlook changes (racy-git, in git's
    // documentation).
    if (files.has(index) && modifiedMs !== undefined)
      utimesSync(encodePath(`${path}/${index}`), new Date(), new Date(modifiedMs))
    for (const name of host.names(prefix) ?? []) {
      if (name.startsWith('sharedindex.')) copy(`${prefix}${name}`, largestIndex)
      else if (stateFiles.includes(name)) copy(`${prefix}${name}`, largestFile, scrubbed)
    }
    for (const directory of stateDirectories) {
      for (const name of host.names(`${prefix}${directory}`) ?? []) {
        if (directory !== 'info' || name === 'sparse-checkout') copy(`${prefix}${directory}/${name}`)
      }
    }
  }
  for (const [name, text] of options.config) put(name, encodeText(text))
  return hasRefs(path, refs, options.oidBytes) ? { refs, files, raw } : undefined
}

function hasRefs(path: string, refs: Refs, oidBytes: number): boolean {
  const held = holdDirectory(path)
  try {
    const written = readRefs(held, oidBytes)
    return written !== undefined && areSameRefs(refs, sharedRefs(written))
  } finally {
    held.close()
  }
}

/** The paths of a list that are inside a work tree, relative to it. */
function namesBelow(tree: string, paths: readonly string[]): readonly string[] {
  const inside = paths.filter((path) => path !== tree && isWithin(path, tree))
  return inside.map((path) => path.slice(tree.length + 1))
}

/**
 * Adds rules to `info/exclude` (gitignore(5)) that make git ignore denied files, because the entries that commands see in place of these files can't
 * be added to git.
 */
function withExcluded(content: Buffer | undefined, names: readonly string[]): Buffer {
  const lines = names.map((name) => `/${name.replace(/[\\*?[\] ]/g, '\\$&').replaceAll('\n', '?')}\n`)
  const added = lines.length === 0 ? '' : `\n${lines.join('')}`
  return Buffer.concat([content ?? Buffer.alloc(0), encodeText(added)])
}

/** Copies the hooks except the samples, which never run. Hooks run in the sandbox, like everything else. */
function copyHooks(
  host: HeldDirectory,
  put: (name: string, content: Buffer, mode: number) => void,
  path: string,
): void {
  const target = host.link('hooks')
  if (target !== undefined) {
    // A relative symlink works too, because the directory is mounted in place of the host's.
    symlinkSync(encodePath(target), `${path}/hooks`)
    return
  }
  mkdirSync(`${path}/hooks`)
  for (const name of host.names('hooks') ?? []) {
    if (name.endsWith('.sample')) continue
    const link = host.link(`hooks/${name}`)
    if (link !== undefined) symlinkSync(encodePath(link), encodePath(`${path}/hooks/${name}`))
    const content = link === undefined ? host.read(`hooks/${name}`, largestFile) : undefined
    if (content !== undefined)
      put(`hooks/${name}`, content, host.stat(`hooks/${name}`)?.executable === true ? 0o755 : 0o644)
  }
}
