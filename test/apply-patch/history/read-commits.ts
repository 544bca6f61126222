/** Draws commits from a repository's history, and reads what each one changes. */
import { execFileSync, spawnSync } from 'node:child_process'
import { isUtf8 } from 'node:buffer'

/** A hunk of a diff. Its lines have their marks, but no line endings. */
export type Hunk = { readonly start: number; readonly heading: string; readonly lines: readonly string[] }

/** A file that a commit changes. `before` is undefined for an added file, `after` for a deleted one. */
export type ChangedFile = {
  readonly path: string
  readonly before: Buffer | undefined
  readonly after: Buffer | undefined
  readonly hunks: readonly Hunk[]
}

export type Commit = { readonly id: string; readonly files: readonly ChangedFile[] }

/** Creates a generator of random numbers below a limit that always returns the same sequence for the same seed (mulberry32). */
export function randomFrom(seed: number): (limit: number) => number {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000) * limit)
  }
}

/** Yields different commits of a repository, in random order, that change at least one text file. Merges and very large commits are left out. */
export function* drawCommits(repository: string, count: number, seed: number): Generator<Commit> {
  const ids = git(repository, 'rev-list', '--no-merges', 'HEAD').toString().trim().split('\n')
  const random = randomFrom(seed)
  let drawn = 0
  for (let left = ids.length; left > 0 && drawn < count; left--) {
    const index = random(left)
    const id = ids[index] ?? ''
    ids[index] = ids[left - 1] ?? ''
    const files = readIfStored(repository, id)
    if (files.length === 0 || files.length > 100) continue
    drawn++
    yield { id, files }
  }
}

/** The files of a commit; none if the repository is a partial copy that lacks one of them. */
function readIfStored(repository: string, id: string): readonly ChangedFile[] {
  try {
    return readCommit(repository, id)
  } catch (error) {
    if (error instanceof Error && error.message.includes('unable to read')) return []
    throw error
  }
}

/** The largest diff of a commit that is read, in bytes. */
const largestDiff = 1024 * 1024

function readCommit(repository: string, id: string): readonly ChangedFile[] {
  const raw = git(repository, 'diff-tree', '-r', '--root', '--no-commit-id', '--no-renames', '--no-abbrev', '-z', id)
  const entries = raw.toString().split('\0')
  const diff = git(repository, 'diff-tree', '-r', '--root', '--no-commit-id', '--no-renames', '-p', '-U3', id)
  if (diff.length > largestDiff) return []
  const hunks = hunksByPath(diff.toString())
  const wanted: { path: string; before: string | undefined; after: string | undefined }[] = []
  for (let index = 0; index + 1 < entries.length; index += 2) {
    const [oldMode = '', newMode, oldId = '', newId = ''] = (entries[index] ?? '').replace(/^:/, '').split(' ')
    const path = entries[index + 1] ?? ''
    const isRegular = [oldMode, newMode].every((mode) => mode === '000000' || mode?.startsWith('100'))
    // A patch can't express a change of the mode, a link, or a submodule.
    if (!isRegular || oldId === newId || /^\s|\s$|[\n*"\\]/.test(path)) continue
    const blob = (hash: string): string | undefined => (/^0+$/.test(hash) ? undefined : hash)
    wanted.push({ path, before: blob(oldId), after: blob(newId) })
  }
  const blobs = readBlobs(
    repository,
    wanted.flatMap(({ before, after }) => [before, after]).filter((hash) => hash !== undefined),
  )
  return wanted.flatMap(({ path, before, after }) => {
    const file = {
      path,
      before: before === undefined ? undefined : blobs.get(before),
      after: after === undefined ? undefined : blobs.get(after),
      hunks: hunks.get(path) ?? [],
    }
    const isMissing = (before !== undefined && !file.before) || (after !== undefined && !file.after)
    return isMissing || [file.before, file.after].some((bytes) => bytes && (!isUtf8(bytes) || bytes.includes(0)))
      ? []
      : [file]
  })
}

function hunksByPath(diff: string): ReadonlyMap<string, readonly Hunk[]> {
  const found = new Map<string, Hunk[]>()
  for (const section of diff.split(/^diff --git /m).slice(1)) {
    const path = /^\+\+\+ b\/(.*?)\t?$/m.exec(section)?.[1] ?? /^--- a\/(.*?)\t?$/m.exec(section)?.[1]
    if (path === undefined) continue
    const hunks: Hunk[] = []
    const lines = section.split('\n')
    let open: string[] | undefined
    for (const line of lines) {
      const header = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$/.exec(line)
      if (header !== null) {
        open = []
        hunks.push({ start: Number(header[1]), heading: header[2] ?? '', lines: open })
      } else if (/^[ +-]/.test(line)) open?.push(line)
    }
    found.set(path, hunks)
  }
  return found
}

function readBlobs(repository: string, hashes: readonly string[]): ReadonlyMap<string, Buffer> {
  const output = spawnSync('git', ['-C', repository, 'cat-file', '--batch'], {
    input: hashes.map((hash) => `${hash}\n`).join(''),
    maxBuffer: 1 << 30,
  }).stdout
  const blobs = new Map<string, Buffer>()
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at)
    const [hash = '', type, size = '0'] = output.toString('latin1', at, end).split(' ')
    if (type === 'blob') blobs.set(hash, output.subarray(end + 1, end + 1 + Number(size)))
    at = type === 'blob' ? end + 2 + Number(size) : end + 1
  }
  return blobs
}

function git(repository: string, ...args: readonly string[]): Buffer {
  const settings = ['-c', 'core.quotePath=false', '-c', 'diff.noprefix=false', '-c', 'diff.mnemonicPrefix=false']
  return execFileSync('git', ['-C', repository, ...settings, ...args], { maxBuffer: 1 << 30, stdio: 'pipe' })
}
