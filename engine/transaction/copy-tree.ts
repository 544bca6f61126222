import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { openTreeBudget } from '../../sandbox/index.ts'
import { cleanFiles } from './clean-files.ts'
import { copyEntry, finishDirectory, type Copying } from './copy-entry.ts'
import type { HowToCopy } from './copy-file.ts'
import { copyGit } from './copy-git.ts'
import { openCounter, type CopyLimit } from './copy-limit.ts'
import { openRecord } from './copy-record.ts'
import { divideFiles, type DividedFiles } from './divide-files.ts'
import { fitIndex } from './fit-index.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from './linked-git.ts'
import { markLeftOut } from './mark-left-out.ts'
import { below, bytesOf, directoryOf, keyIn, placeOf } from './path-keys.ts'
import { findSecretFiles } from './secret-files.ts'
import type { Manifest } from './view-manifest.ts'

type CopyOptions = {
  /** `reflink` shares blocks with the original, and fails if that is impossible; `copy` writes new blocks. */
  readonly how: HowToCopy
  /** The maximum size of the tree. It is checked while the tree is copied, so that copying stops early if the tree is too large. Absent: no limit. */
  readonly limit?: CopyLimit | undefined
  readonly signal?: AbortSignal | undefined
  /** The path of a directory that is left out wherever it lies in the tree: that of the copies themselves. Default: none. */
  readonly without?: string | undefined
  /** The absolute paths of files that are copied even if they hold secrets, or of their directories. Absent: files with secrets are copied. */
  readonly shown?: readonly string[] | undefined
  /** Called with the key of each directory below the root that has a `.git` directory. Default: nothing is called. */
  readonly repository?: (key: string) => void
}

/** How many entries are copied before other tasks of this process get a chance to run. */
const atOnce = 200

/** When this many files are listed, they are copied before further directories are listed. This limits the length of the list. */
const mostListed = 50_000

/**
 * Copies a tree with its modes and times, and records the state of the originals. Follows no symbolic links. Git objects aren't copied; the copy uses those of
 * the original. Anything that can't be copied (pipes, sockets, devices, unreadable files) is left out and recorded as such, and
 * git treats it as unchanged. So are files with secrets.
 *
 * The files are copied after everything else, because a second thread can help with them.
 *
 * @param to a directory that doesn't exist yet
 * @throws CopyRefusal if the tree can't be copied in this way, or TreeTooLarge if it has too many entries; what has been copied so far is not removed
 */
export async function copyTree(
  from: string,
  to: string,
  { how, limit, signal, without, shown, repository }: CopyOptions,
): Promise<Manifest> {
  const { addFiles, addBytes } = openCounter(from, limit)
  const countGit = (size: number): void => {
    addFiles(1)
    addBytes(size)
  }
  let looked = 0
  const isTurn = (): boolean => ++looked % atOnce === 0
  const giveTurn = async (): Promise<void> => {
    await setImmediate()
    signal?.throwIfAborted()
  }
  signal?.throwIfAborted()
  mkdirSync(to, { mode: 0o700 })
  const clean = cleanFiles(from)
  const record = openRecord(clean)
  const linked = linkedGitOf(from)
  if (linked !== undefined) await copyLinkedGit(linked, `${to}/.git`, countGit)
  const budget = openTreeBudget(from)
  const copying: Copying = { from, to, how, links: new Map(), budget }
  const pending = [{ directory: '', entries: budget.list(from) }]
  const repositories = linked === undefined ? [] : ['']

  const leftOut = without === undefined ? undefined : keyIn(from, without)
  const copyOne = (key: string): void => {
    const stats = lstatSync(placeOf(from, key), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return
    if (key === leftOut) return record.add({ key, kind: 'left-out', mode: Number(stats.mode & 0o7777n) })
    if (stats.isFile()) addBytes(Number(stats.size))
    const copied = copyEntry(key, stats, copying)
    if (copied.kind === 'file') return record.addFile(key, { original: stats, ...copied })
    if (copied.kind === 'left-out' || copied.kind === 'link') return record.add(copied)
    record.addDirectory(key, copied.mode)
    pending.push({ directory: key, entries: copied.entries })
  }

  const copyNamedGit = async (key: string): Promise<void> => {
    if (lstatSync(placeOf(from, key), { throwIfNoEntry: false })?.isDirectory() === true) {
      repositories.push(directoryOf(key))
      if (key !== '.git') repository?.(directoryOf(key))
      await copyGit([{ from: bytesOf(from, key), to: bytesOf(to, key) }], countGit, budget)
    } else if (key !== '.git') copyOne(key)
  }

  /** Copies pending directories, with all that isn't a file. Returns the files in them. */
  const copyDirectories = async (): Promise<readonly string[]> => {
    const files: string[] = []
    for (let at = pending.pop(); at !== undefined; at = files.length < mostListed ? pending.pop() : undefined) {
      for (const { name, kind } of at.entries) {
        if (isTurn()) await giveTurn()
        const key = below(at.directory, name)
        if (kind === 'file') addFiles(1)
        if (name === '.git') await copyNamedGit(key)
        else if (kind === 'file') files.push(key)
        else copyOne(key)
      }
    }
    return files
  }

  const copyFiles = async (files: DividedFiles): Promise<void> => {
    const takeOver = (): void => {
      for (const { key, file } of files.finished()) {
        if (file !== undefined) addBytes(Number(file.original.size))
        if (file === undefined) copyOne(key)
        else record.addFile(key, file)
      }
    }
    try {
      // The index is parsed while the second thread starts.
      clean()
      for (let key = files.claim(); key !== undefined; key = files.claim()) {
        if (isTurn()) {
          await giveTurn()
          takeOver()
        }
        copyOne(key)
      }
      await files.ended()
      takeOver()
    } finally {
      await files.stop()
    }
  }

  while (pending.length > 0) await copyFiles(divideFiles(from, to, await copyDirectories(), how))
  if (shown !== undefined) {
    const kept = [...record.manifest.values()].filter(({ kind }) => kind === 'file' || kind === 'link')
    const secrets = await findSecretFiles(
      from,
      kept.map(({ key }) => key),
      shown,
    )
    for (const key of secrets) {
      rmSync(placeOf(to, key))
      record.add({ key, kind: 'left-out', mode: record.manifest.get(key)?.mode ?? 0, isSecret: true })
    }
  }
  await linkNested(from, `${to}/.git`, to, countGit)
  for (const key of record.directories.toReversed()) finishDirectory(key, record.manifest.get(key)?.mode, copying)
  fitIndex(to, clean().index, record.copies)
  markLeftOut(from, to, record.manifest, repositories)
  return record.manifest
}
