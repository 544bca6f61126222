import { chmodSync, lstatSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openTreeBudget, treeBounds, type ListedEntry, type TreeBudget } from '../../../sandbox/index.ts'
import { pathOfKey } from '../../core/changes/list-files.ts'
import { UserError } from '../../core/user-error.ts'
import { below, bytesOf, directoryOf } from '../path-keys.ts'
import { findSecretFiles } from '../secret-files.ts'
import type { PrivateView } from '../stored-view.ts'
import type { OverlayStorage } from './storage.ts'

const atOnce = 500
/** An overlay is for trees that are too large to be copied, so more is looked through than elsewhere. */
const bounds = { ...treeBounds, entries: 10_000_000, bytes: 2 * 1024 * 1024 * 1024 }

/**
 * Takes the files with secrets out of mounted overlays. They stay in the trees below, and count as never shown. Also notes the trees' links.
 *
 * @returns their absolute paths
 * @throws UserError `sandboxUnavailable` if one of them can't be taken out
 */
export async function withholdSecrets({ views, overlays, state }: PrivateView): Promise<readonly string[]> {
  const found: string[] = []
  for (const [index, { path, source }] of views.entries()) {
    const storage = overlays[index]
    if (storage === undefined) continue
    const { files, links } = await filesIn(path)
    writeKeys(storage.links, links)
    if (state.shown === undefined) continue
    const secrets = [...(await findSecretFiles(path, [...files, ...links], state.shown))]
    writeKeys(storage.secrets, secrets)
    for (const key of secrets) {
      takeOut(source, key)
      found.push(join(path, pathOfKey(key)))
    }
  }
  return found
}

/** The keys of the files that were taken out of an overlay. */
export function readWithheld({ secrets }: OverlayStorage): ReadonlySet<string> {
  return new Set(readKeys(secrets))
}

/** The keys of the links that an overlay's tree had when the view was made. */
export function readLinks({ links }: OverlayStorage): readonly string[] {
  return readKeys(links)
}

function writeKeys(file: string, keys: readonly string[]): void {
  if (keys.length > 0) writeFileSync(file, JSON.stringify(keys), { mode: 0o600 })
}

function readKeys(file: string): readonly string[] {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined
  return isThere ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : []
}

function takeOut(merged: string, key: string): void {
  const directory = bytesOf(merged, directoryOf(key))
  const { mode, atimeMs, mtimeMs } = lstatSync(directory)
  try {
    if ((mode & 0o300) !== 0o300) chmodSync(directory, (mode & 0o7777) | 0o700)
    rmSync(bytesOf(merged, key))
    if ((mode & 0o300) !== 0o300) chmodSync(directory, mode & 0o7777)
    utimesSync(directory, atimeMs / 1000, mtimeMs / 1000)
  } catch (cause) {
    const path = pathOfKey(key)
    const message =
      `The run's private view can't be made: ${path} holds a secret and can't be left out of an overlay: ${(cause as Error).message}. ` +
      `Show it with --allow-read ${path}, or use --view=copy.`
    throw new UserError('sandboxUnavailable', message, { cause })
  }
}

/** The keys of a tree's files and links, without those in git directories. */
async function filesIn(
  tree: string,
): Promise<{ readonly files: readonly string[]; readonly links: readonly string[] }> {
  const budget = openTreeBudget(tree, bounds)
  const [files, links]: [string[], string[]] = [[], []]
  const pending = ['']
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, kind } of entriesIn(tree, directory, budget)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      if (kind === 'file') files.push(key)
      else if (kind === 'link') links.push(key)
      else if (kind === 'directory' && name !== '.git') pending.push(key)
    }
  }
  return { files, links }
}

function entriesIn(tree: string, directory: string, budget: TreeBudget): readonly ListedEntry[] {
  try {
    return budget.list(bytesOf(tree, directory))
  } catch (error) {
    // What this user can't list, no command can.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}
