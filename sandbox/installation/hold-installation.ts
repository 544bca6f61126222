import process from 'node:process'
import { lstatSync, readFileSync, readlinkSync } from '../host-paths.ts'
import { readHostFile } from '../host-files.ts'
import { createQuarantine } from '../quarantine.ts'
import type { Denial } from '../sandbox.ts'
import { isWithin } from '../paths.ts'
import { ownPaths } from './own-paths.ts'
import { putIn, type Entry } from './put-in.ts'

/** This program's files in directories to which sandboxed commands can write. */
type Installation = {
  /**
   * Restores changed files, and reports them.
   *
   * @param alone whether no other command is running. Missing files are restored only then, because another command could be reinstalling the program
   */
  putBack(alone: boolean): readonly Denial[]
}

type Watched = {
  readonly root: string
  readonly path: string
  readonly part: 'program' | 'start'
  /** The entry that was at the path before any command ran; undefined if there was none. */
  readonly was: Entry | undefined
  /** The file's stamp when it was last found unchanged. */
  seen: string | undefined
}

/**
 * The files that the sandboxes of this process recorded when they were opened, by path. Sandboxes that are opened later use these records, because a
 * command may have changed the files by then.
 */
const watched = new Map<string, Watched>()

/** Records the content of this program's files that are in `roots`, before any command runs there. */
export function holdInstallation(roots: readonly string[]): Installation {
  const { program, start } = ownPaths(roots)
  const note = (path: string, part: Watched['part']): void => {
    const root = roots.find((each) => path !== each && isWithin(path, each))
    if (root === undefined || watched.has(path)) return
    watched.set(path, { root, path, part, was: snapshotOf(path), seen: stampOf(path) })
  }
  for (const path of program) note(path, 'program')
  for (const path of start) note(path, 'start')
  return { putBack: (alone) => putBackInstallation(alone) }
}

/**
 * Restores this program's changed files in the roots of all sandboxes of this process, and reports them.
 *
 * @internal
 */
export function putBackInstallation(alone: boolean): readonly Denial[] {
  const changed = [...watched.values()].filter((each) => isChanged(each, alone))
  if (changed.length === 0) return []
  const quarantine = createQuarantine([...watched.values()].map(({ root }) => root))
  const done = changed.map((each) => ({ ...each, ...putOneBack(each, quarantine.take) }))
  const ofProgram = done.filter(({ part }) => part === 'program')
  const failed = ofProgram.find(({ failure }) => failure !== undefined)
  return [
    ...(ofProgram.length === 0
      ? []
      : [saidOf(countOf(ofProgram.map(({ path }) => path)), failed ?? { to: undefined })]),
    ...done.filter(({ part }) => part === 'start').map((each) => saidOf(each.path, each)),
  ]
}

/** The own paths in lists of roots, as they were when they were first asked for. A command in a view can't change what this program is. */
const ownIn = new Map<string, readonly string[]>()

/**
 * The path that is or contains `path`: a file of this program in one of `roots`, or a file that decides how the program is started. Only the user may
 * change these files. Returns undefined if there is none.
 */
export function ownPlaceOf(path: string, roots: readonly string[]): string | undefined {
  const key = roots.join('\0')
  const own = ownIn.get(key) ?? Object.values(ownPaths(roots)).flat()
  ownIn.set(key, own)
  return [...own, ...watched.keys()].find((each) => isWithin(path, each))
}

function countOf(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  if (others.length === 0) return first
  return `${first} and ${others.length} other ${others.length === 1 ? 'file' : 'files'} of this program`
}

type Outcome = { readonly to?: string | undefined; readonly failure?: string | undefined }

function putOneBack({ root, path, was }: Watched, take: (root: string, path: string) => string | undefined): Outcome {
  const away = (at: string): string | undefined => take(root, at)
  try {
    const to = lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : away(path)
    if (was !== undefined) putIn(root, path, was, away)
    const kept = watched.get(path)
    if (kept !== undefined) kept.seen = stampOf(path)
    return { to }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

function saidOf(subject: string, { to, failure }: Outcome): Denial {
  const kept = to === undefined ? '' : `; the changed version is now at ${to}`
  return {
    kind: 'path',
    subject: failure === undefined ? `${subject} (restored${kept})` : `${subject} (still changed: ${failure})`,
    rule: 'this program’s own files, and the files that determine how it is started',
    certainty: 'proven',
    remedy: {
      kind: 'otherwise',
      advice:
        failure === undefined
          ? 'change it outside the sandbox'
          : 'reinstall this program before you start it again from this workspace',
    },
  }
}

function isChanged(each: Watched, alone: boolean): boolean {
  const stamp = stampOf(each.path)
  if (stamp === each.seen) return false
  if (stamp === undefined) return alone
  // The content may still be the same, for example after the same package was reinstalled.
  if (!isSame(entryAt(each.path, largest), each.was)) return true
  each.seen = stamp
  return false
}

function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one?.kind === 'file' && other?.kind === 'file')
    return one.mode === other.mode && one.bytes().equals(other.bytes())
  if (one?.kind === 'link' && other?.kind === 'link') return one.target === other.target
  return one === other
}

/**
 * A string that changes whenever the file changes; undefined if there is no file. It can be relied on, because nobody can set a file's change time.
 */
function stampOf(path: string): string | undefined {
  try {
    const { dev, ino, ctimeNs, size, mode } = lstatSync(path, { bigint: true })
    return [dev, ino, ctimeNs, size, mode].join(' ')
  } catch {
    return undefined
  }
}

/** A size, in bytes, that no file of this program reaches. A larger file can't be a copy of one. */
const largest = 512 * 1024 * 1024

/**
 * The entry at a path before any command runs. On Linux, the bytes of Node's executable are not copied, because the file is large and the kernel
 * prevents writing to a program while it runs.
 */
function snapshotOf(path: string): Entry | undefined {
  if (path !== process.execPath || process.platform !== 'linux') return entryAt(path, largest)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat && { kind: 'file', mode: stat.mode & 0o777, bytes: () => readFileSync('/proc/self/exe') }
}

/** The entry at a path. Commands may have created it. */
function entryAt(path: string, maxBytes: number): Entry | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path) }
  const bytes = readHostFile(path, { maxBytes })
  return bytes === undefined ? { kind: 'other' } : { kind: 'file', mode: stat.mode & 0o777, bytes: () => bytes }
}
