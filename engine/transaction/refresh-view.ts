import { chmodSync, lstatSync, rmSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { decodeText, openTreeBudget, removeTree } from '../../sandbox/index.ts'
import { cleanFiles } from './clean-files.ts'
import { copyEntry, finishDirectory, type Copying } from './copy-entry.ts'
import { openRecord } from './copy-record.ts'
import { below, bytesOf, isBelow, keyIn, parentsOf, placeOf } from './path-keys.ts'
import { sessionsIn } from './private-view.ts'
import { findSecretFiles } from './secret-files.ts'
import { manifestFile, type PrivateView } from './stored-view.ts'
import { stampOf, writeManifest, type Original } from './view-manifest.ts'

/** How many entries are looked at before other tasks of this process get a chance to run. */
const atOnce = 500

/**
 * Brings a copied view up to date with its trees: what somebody has written, added or removed there, and what the session has landed, is copied again. Git
 * directories stay as they are. Call it only when no command is running.
 *
 * @param manifests those of the view, which are brought up to date, too
 * @param staying the absolute paths that the session changed in the view and that haven't landed. They stay, with everything below them, and so do the
 *   originals from which they started, so that they are merged when they land
 * @throws the system's error, or TreeTooLarge; then only part of the view is up to date
 */
export async function refreshView(
  { directory, views, state }: PrivateView,
  manifests: readonly Map<string, Original>[],
  staying: readonly string[],
): Promise<void> {
  for (const [index, { path, source }] of views.entries()) {
    const originals = manifests[index]
    if (originals === undefined) continue
    const apart = [sessionsIn(path, directory) ?? [], staying].flat().filter((each) => each.startsWith(`${path}/`))
    const copying: Copying = { from: path, to: source, how: 'copy', links: new Map(), budget: openTreeBudget(path) }
    const isChanged = await refreshTree(
      copying,
      originals,
      new Set(apart.map((each) => keyIn(path, each))),
      state.shown,
    )
    if (isChanged) writeManifest(manifestFile(directory, index), originals)
  }
}

/**
 * @param originals the entries that the copy was made from, which are brought up to date, too
 * @param apart the keys of entries that are neither copied nor removed
 * @param shown the absolute paths that are copied even if they hold secrets; undefined if all are
 * @returns whether anything was copied or removed
 */
async function refreshTree(
  copying: Copying,
  originals: Map<string, Original>,
  apart: ReadonlySet<string>,
  shown: readonly string[] | undefined,
): Promise<boolean> {
  const { from, to, budget } = copying
  const record = openRecord(cleanFiles(from))
  const inTree = new Set<string>([''])
  const reopened = new Set<string>()
  let isChanged = false

  const isReal = (key: string): boolean =>
    lstatSync(placeOf(to, key), { throwIfNoEntry: false })?.isDirectory() === true
  const open = (key: string): void => {
    const { mode } = lstatSync(placeOf(to, key))
    if ((mode & 0o700) === 0o700) return
    chmodSync(placeOf(to, key), (mode & 0o7777) | 0o700)
    reopened.add(key)
  }

  /** Copies an entry if it isn't what it was. Returns whether its own entries come next. */
  const refresh = async (key: string, stats: BigIntStats): Promise<boolean> => {
    const before = originals.get(key)
    const mode = Number(stats.mode & 0o7777n)
    // A command may have put a link in the place of a directory, and nothing may be written through it.
    const shown = lstatSync(placeOf(to, key), { throwIfNoEntry: false })
    if (stats.isDirectory() && shown?.isDirectory() === true) {
      const isKnown = before?.kind === 'directory' && before.was === undefined && before.mode === mode
      if (isKnown && (shown.mode & 0o7777) === mode) return true
      isChanged = true
      originals.set(key, { key, kind: 'directory', mode })
      reopened.add(key)
      return true
    }
    if (before !== undefined && 'was' in before && before.was === stampOf(stats)) return false
    const isOdd = !stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()
    if (before?.kind === 'left-out' && (isOdd || before.isSecret === true)) return false
    isChanged = true
    await removeTree(decodeText(bytesOf(to, key)))
    const copied = copyEntry(key, stats, copying)
    if (copied.kind === 'file') record.addFile(key, { original: stats, ...copied })
    else record.add(copied.kind === 'directory' ? { key, kind: 'directory', mode } : copied)
    if (copied.kind !== 'directory') return false
    reopened.add(key)
    return true
  }

  const holdsApart = new Set([...apart].flatMap(parentsOf))
  const pending = ['']
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    open(directory)
    const names = new Set(inTree.has(directory) ? budget.list(bytesOf(from, directory)).map(({ name }) => name) : [])
    for (const name of names) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      inTree.add(key)
      if (name === '.git' || apart.has(key)) continue
      const stats = lstatSync(placeOf(from, key), { bigint: true, throwIfNoEntry: false })
      if (stats !== undefined && (await refresh(key, stats))) pending.push(key)
    }
    for (const { name } of budget.list(bytesOf(to, directory))) {
      const key = below(directory, name)
      if (names.has(name) || name === '.git' || apart.has(key)) continue
      if (holdsApart.has(key) && isReal(key)) pending.push(key)
      else {
        isChanged = true
        await removeTree(decodeText(bytesOf(to, key)))
      }
    }
  }
  for (const [key, { kind }] of [...originals]) {
    const isKept =
      inTree.has(key) || kind === 'left-out' || apart.has(key) || isBelow(key, apart) || holdsApart.has(key)
    if (!isKept) originals.delete(key)
  }
  const copied = [...record.manifest].flatMap(([key, { kind }]) => (kind === 'file' || kind === 'link' ? [key] : []))
  for (const key of shown === undefined ? [] : await findSecretFiles(from, copied, shown)) {
    rmSync(placeOf(to, key))
    record.add({ key, kind: 'left-out', mode: record.manifest.get(key)?.mode ?? 0, isSecret: true })
  }
  for (const [key, original] of record.manifest) originals.set(key, original)
  for (const key of [...reopened].toReversed()) finishDirectory(key, originals.get(key)?.mode, copying)
  return isChanged
}
