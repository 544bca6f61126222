import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeText } from '../path-bytes.ts'
import type { HeldDirectory } from './held-directory.ts'
import { replaceFile, replaceLocked, type Replaced } from './replace-file.ts'
import { isOid, parseRef } from './refs.ts'
import { readHostIndex } from './host-index.ts'
import { mergeIndex, parseIndex, type IndexEntry } from './index-file.ts'
import { importableState, stateDirectories, stateFiles } from './operation-state.ts'
import type { WorktreeScope } from './private-copy.ts'
import { remember, same, type ImportNote, type ImportResult, type ImportSides, type Known } from './import-types.ts'

const [largestState, largestIndex] = [16 * 1024 * 1024, 1024 * 1024 * 1024]

/**
 * The changes to import for one work tree, except changes to refs. They are read before the objects, so that the objects include everything that the
 * changes name.
 */
type ScopeChanges = {
  readonly scope: WorktreeScope
  readonly head: Buffer | undefined
  readonly index: { readonly content: Buffer; readonly entries: readonly IndexEntry[] | undefined } | undefined
  readonly state: ReadonlyMap<string, Buffer | undefined>
}

/** Reads the changes that commands made to git's files about a work tree: its HEAD, its index and its state. */
export function readScope({ left, oidBytes }: ImportSides, known: Known, scope: WorktreeScope): ScopeChanges {
  const { prefix } = scope
  const head = left.read(`${prefix}HEAD`, 4096)
  const headChanged = head !== undefined && !same(head, known.files.get(`${prefix}HEAD`))
  const index = left.read(`${prefix}index`, largestIndex)
  const indexChanged = index !== undefined && !same(index, known.files.get(`${prefix}index`))
  const names = new Set<string>()
  for (const name of stateFiles) names.add(name)
  for (const directory of stateDirectories) {
    for (const name of left.names(`${prefix}${directory}`) ?? []) names.add(`${directory}/${name}`)
  }
  for (const name of known.files.keys()) {
    const path = name.slice(prefix.length)
    if (name.startsWith(prefix) && stateDirectories.includes(dirname(path))) names.add(path)
  }
  const state = new Map<string, Buffer | undefined>()
  for (const name of names) {
    const now = left.read(`${prefix}${name}`, largestState)
    const before = known.files.get(`${prefix}${name}`)
    if (!same(now, before)) state.set(name, now)
  }
  return {
    scope,
    head: headChanged && parseRef(head, oidBytes) !== undefined ? head : undefined,
    index: indexChanged ? { content: index, entries: parseIndex(index, oidBytes) } : undefined,
    state,
  }
}

/**
 * The ids of the objects that the changes name, except those that the host's index named before. The host must have these objects before it can
 * import the changes.
 */
export function oidsOf(
  sides: ImportSides,
  known: Known,
  { scope, head, index, state }: ScopeChanges,
): readonly string[] {
  const { oidBytes } = sides
  const at = head === undefined ? '' : decodeText(head).trim()
  const raw = index === undefined ? undefined : known.raw.get(`${scope.prefix}index`)
  const before = new Set(readHostIndex(sides, raw)?.map(({ oid }) => oid))
  const inIndex = index?.entries?.filter(({ mode, oid }) => mode !== 0o160000 && !before.has(oid)).map(({ oid }) => oid)
  const inState = [...state.values()].flatMap((content) =>
    content !== undefined && content.length < 4096 ? decodeText(content).trim().split('\n') : [],
  )
  return [at, ...(inIndex ?? []), ...inState].filter((oid) => isOid(oid, oidBytes))
}

/** Imports a work tree's HEAD, index and state. */
export async function importScope(
  sides: ImportSides,
  known: Known,
  changes: ScopeChanges,
  options: {
    readonly refused: ReadonlySet<string>
    readonly sparse: boolean
    readonly exists: (oid: string) => boolean
  },
): Promise<ImportResult> {
  const { host, oidBytes } = sides
  const { scope, head, index, state } = changes
  const notes: ImportNote[] = []
  const name = `${scope.prefix}HEAD`
  let behind = options.refused.has(currentBranch(known, name))
  if (head !== undefined) {
    const value = parseRef(head, oidBytes) ?? ''
    const target = value.startsWith('ref: ') ? value.slice(5) : undefined
    const allowed = target === undefined ? options.exists(value) : /^refs\/(?:heads|remotes|tags)\//.test(target)
    const done = allowed ? await replaceLocked(host, name, expecting(known.raw.get(name), head)) : 'moved'
    if (done === 'done') remember(known, name, head, head)
    else {
      behind = true
      notes.push(note(`HEAD of ${scope.worktree ?? 'the repository'}`, done))
    }
  }
  if (index !== undefined) notes.push(...(await importIndex(sides, known, changes, { ...options, behind })))
  for (const [path, now] of state) importState(sides, known, scope.prefix, path, now)
  return { notes, stale: notes.length > 0 }
}

async function importIndex(
  sides: ImportSides,
  known: Known,
  { scope, index }: ScopeChanges,
  options: { readonly behind: boolean; readonly sparse: boolean; readonly exists: (oid: string) => boolean },
): Promise<readonly ImportNote[]> {
  const { host, oidBytes } = sides
  const name = `${scope.prefix}index`
  const of = `the index of ${scope.worktree ?? 'the repository'}`
  const entries = index?.entries
  if (entries === undefined || index === undefined) {
    return [
      {
        subject: `${of} (it is damaged or split, or contains a path that git never adds)`,
        advice: 'run git add yourself',
      },
    ]
  }
  const before = readHostIndex(sides, known.raw.get(name)) ?? []
  const had = new Set(before.map(({ oid }) => oid))
  const lost = entries.find(({ mode, oid }) => mode !== 0o160000 && !had.has(oid) && !options.exists(oid))
  if (lost !== undefined) {
    return [{ subject: `${of} (it refers to an object that does not exist)`, advice: 'run git add yourself' }]
  }
  if (options.behind) return [note(of, 'moved')]
  let written: Buffer | undefined
  let isReadable = true
  const done = await replaceLocked(host, name, (now) => {
    const current = readHostIndex(sides, now)
    isReadable = current !== undefined
    if (current === undefined || contentOf(current) !== contentOf(before)) return undefined
    written = mergeIndex(current, entries, oidBytes, options.sparse)
    return written
  })
  if (!isReadable) {
    return [
      {
        subject: `${of} (the host's own index is damaged, or contains a path that git never adds)`,
        advice: "it does not have the command's changes, so run git reset before you commit",
      },
    ]
  }
  if (done !== 'done' || written === undefined) return [note(of, done)]
  remember(known, name, index.content, written)
  return []
}

/** The content of an index without the file metadata that git caches in it. If only that metadata has changed, the index counts as unchanged. */
function contentOf(entries: readonly IndexEntry[]): string {
  return entries
    .map(({ path, mode, stage, oid, intentToAdd }) => `${mode} ${oid} ${stage} ${intentToAdd} ${path}`)
    .join('\0')
}

function importState(
  { host, oidBytes }: ImportSides,
  known: Known,
  prefix: string,
  path: string,
  now: Buffer | undefined,
): void {
  const name = `${prefix}${path}`
  // If the user has changed the file in the meantime, the user's version is kept.
  if (!same(host.read(name, largestState), known.raw.get(name))) return
  if (now === undefined) {
    rmSync(host.at(name), { force: true })
    known.files.delete(name)
    known.raw.delete(name)
    const directory = dirname(path)
    if (directory.startsWith('re') || directory === 'sequencer') removeIfDone(host, `${prefix}${directory}`, known)
    return
  }
  const content = importableState(path, now, oidBytes)
  if (content === undefined) return
  replaceFile(host, name, content)
  remember(known, name, now, content)
}

/**
 * Removes the directory of an operation such as a rebase from the host's repository, if the operation has ended. The whole directory is removed,
 * because it contains more than is imported.
 */
function removeIfDone(host: HeldDirectory, directory: string, known: Known): void {
  if ([...known.files.keys()].some((name) => name.startsWith(`${directory}/`))) return
  if (host.stat(directory)?.kind === 'directory') rmSync(host.at(directory), { recursive: true, force: true })
}

function currentBranch(known: Known, name: string): string {
  const head = decodeText(known.files.get(name) ?? Buffer.alloc(0))
  return head.replace(/^ref: /, '').replace(/\n$/, '')
}

function expecting(before: Buffer | undefined, next: Buffer): (now: Buffer | undefined) => Buffer | undefined {
  return (now) => (same(now, before) ? next : undefined)
}

function note(subject: string, why: Replaced): ImportNote {
  return why === 'locked'
    ? {
        subject: `${subject} (another git process holds its lock)`,
        advice: 'if no git process is using this repository, remove the lock; then run the command again',
      }
    : {
        subject: `${subject} (it was changed on the host in the meantime)`,
        advice: "the command's version was not imported",
      }
}
