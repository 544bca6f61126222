import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { encodePath, encodeText } from '../path-bytes.ts'
import { realpathSync } from '../host-paths.ts'
import { isWithin } from '../paths.ts'
import { isHarmless, withoutUserinfo } from './config-clean.ts'
import { parseConfigFile, keyOf, writeConfigFile } from './config-file.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { importChanges } from './import.ts'
import type { ImportNote, ImportResult, ImportSides, Known, RunPack } from './import-types.ts'

const plainName = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/

type MadeOptions = {
  /** The repository's path on the host. */
  readonly git: string
  readonly roots: readonly string[]
  readonly pack: RunPack
}

/**
 * Imports the submodules that commands added to a repository, and removes the host's data about the work trees that commands removed. The files that git
 * keeps about added ones are not copied: this function creates new files from the data that may be imported.
 */
export async function importMade(sides: ImportSides, options: MadeOptions): Promise<ImportResult> {
  const notes: ImportNote[] = []
  let stale = false
  for (const { prefix, worktree, writable } of sides.scopes) {
    if (prefix === '' || !writable || worktree === undefined) continue
    // The host's data about a work tree is removed only if git in the sandbox removed its own data and the files of the work tree.
    if (
      sides.left.stat(prefix) !== undefined ||
      lstatSync(encodePath(worktree), { throwIfNoEntry: false }) !== undefined
    )
      continue
    rmSync(sides.host.at(prefix), { recursive: true, force: true })
    stale = true
  }
  for (const name of newModules(sides)) {
    const result = await importModule(sides, options, name)
    notes.push(...result.notes)
    stale = true
  }
  return { notes, stale }
}

function namesBack(directory: string, git: string, roots: readonly string[]): boolean {
  try {
    if (realpathSync(directory) !== directory || !roots.some((root) => isWithin(directory, root))) return false
    const held = holdDirectory(encodePath(directory))
    try {
      const named = /^gitdir: ([^\0\n]+)\n$/.exec(held.text('.git', 4096) ?? '')?.[1]
      return named !== undefined && resolve(directory, named) === git
    } finally {
      held.close()
    }
  } catch {
    // The path doesn't exist, or is in a place that only commands can see.
    return false
  }
}

/** Names of submodules (below `modules`) that the host doesn't have. */
function newModules({ left, host }: ImportSides): readonly string[] {
  const found: string[] = []
  const look = (path: string, depth: number): void => {
    for (const name of left.names(path) ?? []) {
      const entry = `${path}/${name}`
      if (!plainName.test(name) || left.stat(entry)?.kind !== 'directory' || depth > 4) continue
      const isGit = left.stat(`${entry}/HEAD`)?.kind === 'file' && left.stat(`${entry}/objects`)?.kind === 'directory'
      const there = host.stat(entry)
      if (isGit && there === undefined) found.push(entry.slice('modules/'.length))
      else if (!isGit && (there === undefined || host.stat(`${entry}/HEAD`) === undefined)) look(entry, depth + 1)
    }
  }
  look('modules', 0)
  return found
}

async function importModule(
  sides: ImportSides,
  { git, roots, pack }: MadeOptions,
  name: string,
): Promise<ImportResult> {
  const inside = `${git}/modules/${name}`
  const left = sides.left.hold(`modules/${name}`)
  if (left === undefined) return { notes: [], stale: false }
  try {
    const text = left.text('config', 1024 * 1024)
    const entries = parseConfigFile(text ?? '') ?? []
    const named = entries.findLast((entry) => keyOf(entry) === 'core.worktree')?.value
    const worktree = named === undefined ? undefined : resolve(inside, named)
    if (worktree === undefined || !namesBack(worktree, inside, roots)) return { notes: [], stale: false }
    const kept = entries
      .filter(isHarmless)
      .map((entry) => ({ ...entry, value: entry.value && withoutUserinfo(entry.value) }))
    const at = `modules/${name}`
    for (const directory of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info', 'hooks']) {
      mkdirSync(sides.host.at(`${at}/${directory}`), { recursive: true })
    }
    const host = holdDirectory(sides.host.at(at))
    try {
      const own = { section: 'core', subsection: undefined, name: 'worktree', value: named }
      put(host, 'config', encodeText(writeConfigFile([...kept, own])))
      put(host, 'HEAD', Buffer.from('ref: refs/heads/main\n'))
      const scopes = [{ prefix: '', worktree, writable: true }]
      const known = nothingKnown()
      known.raw.set('HEAD', Buffer.from('ref: refs/heads/main\n'))
      const result = await importChanges({ ...sides, host, left, scopes }, known, {
        given: false,
        packs: [false, true].map((only) => () => pack(inside, sides.oidBytes, only)),
        oids: new Set(),
        commits: new Set(),
      })
      // If the import failed, the new repository is removed, because it would be unusable without its objects.
      if (result.notes.length > 0) rmSync(sides.host.at(at), { recursive: true, force: true })
      return result
    } finally {
      host.close()
    }
  } finally {
    left.close()
  }
}

function put(host: HeldDirectory, name: string, content: Buffer): void {
  writeFileSync(host.at(name), content, { flag: 'wx', mode: 0o644 })
}

/** Returns an empty baseline, for importing a repository or work tree about which the host's git has no data yet. */
function nothingKnown(): Known {
  return { refs: new Map(), files: new Map(), raw: new Map(), config: new Map() }
}
