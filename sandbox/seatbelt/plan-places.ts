import { basename, dirname, join } from 'node:path'
import type { FileSystemView } from '../file-system-view.ts'
import type { GuardedPlaces } from '../git/guarded-places.ts'
import { isNested } from '../nested-places.ts'
import { ancestors, depth, isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { keyFilesIn } from '../protected/key-files.ts'
import { deniedPlaces, protectedBelow, writableFiles, writableRoots } from '../roots.ts'

/** The properties of this machine and of the run that a profile depends on, in addition to the policy. */
export type SeatbeltMachine = {
  readonly host: FileSystemView
  /** The run's own temporary directory, which commands use because the system's temporary directories are hidden. */
  readonly privateTemp: string
}

/** The policy's rule for a path and everything below it, apart from deeper paths that have a rule of their own. */
export type Place = {
  readonly path: string
  readonly as:
    /** Commands must not see the path, because it contains files and sockets of other users. */
    | 'hidden'
    /** The path is in `deniedReads`, or is a file with secrets in the top directory of a root. */
    | 'denied'
    | 'readable'
    | 'writable'
    /**
     * Read-only, although it is inside a writable directory. The rule applies even before the path exists, and to every spelling that differs only in
     * case.
     */
    | 'protected'
}

/** All of a profile's rules for files, as data. */
export type PlannedPlaces = {
  /** The places, those with the fewest path components first, because the last of several matching rules for the same operation wins. */
  readonly places: readonly Place[]
  /** Directories that must not be moved, because there are rules for entries in them. */
  readonly pinned: readonly string[]
  /**
   * Paths whose existence commands may see: hidden and denied places, except those inside another such place; and, for each granted place, those of its
   * ancestor directories that are in a hidden or denied place, so that commands can reach it.
   */
  readonly visible: readonly string[]
  /** The roots in which git's metadata is protected. */
  readonly roots: readonly string[]
  readonly gitDirectories: readonly string[]
  readonly gitLinks: readonly string[]
  /** Patterns for the paths that are protected in every directory of a root (see `nestedPlace`). */
  readonly nested: readonly string[]
}

/**
 * Directories for temporary files and sockets, like those that other backends replace with private ones. Seatbelt can't mount anything over them, so
 * commands can't use them at all, and `TMPDIR` names the run's own directory. A program that always uses `/tmp` fails.
 */
const hiddenPlaces: readonly string[] = [
  '/tmp',
  '/run',
  '/var/run',
  '/var/folders',
  // A second path to most of the disk. As far as we know, the kernel checks the usual path even for accesses through this one. In case it doesn't,
  // this path is hidden too.
  '/System/Volumes/Data',
]

/** The directory in which nix-darwin keeps the system's programs. */
const systemPlaces: readonly string[] = ['/run/current-system']

/** Files and directories that name resolution reads. They are shown only if the policy gives commands a network. */
const resolverPlaces: readonly string[] = ['/var/run/resolv.conf', '/run/systemd/resolve']

/**
 * Plans the path rules that enforce `policy`. Each path is included as written and also without symlinks: the kernel compares real paths, but it
 * checks a symlink in a path under the symlink's own path (for example `/tmp`, which points to `/private/tmp`).
 */
export function planPlaces(policy: SandboxPolicy, guarded: GuardedPlaces, machine: SeatbeltMachine): PlannedPlaces {
  const { host } = machine
  const byPath = new Map<string, Place>()
  // A later entry for the same path replaces the earlier one.
  const put = (path: string, as: Place['as']): void => {
    for (const form of bothForms(path, host)) byPath.set(form, { path: form, as })
  }
  const roots = [...new Set([...writableRoots(policy, host), ...guarded.repositories])]
  for (const path of hiddenPlaces) put(path, 'hidden')
  const shown = [...systemPlaces, ...(policy.network.mode === 'off' ? [] : resolverPlaces), ...policy.readableRoots]
  for (const path of [...shown, policy.workspace]) put(path, 'readable')
  for (const path of policy.mode === 'workspace-write' ? [policy.workspace, ...policy.writableRoots] : []) {
    put(path, 'writable')
  }
  for (const path of [...roots, ...writableFiles(policy, host), machine.privateTemp]) put(path, 'writable')
  const granted = [...byPath.values()].filter(({ as }) => as === 'readable' || as === 'writable')
  const isGranted = new Set(granted.map(({ path }) => path))
  const denied: string[] = []
  const keys = [policy.workspace, ...roots].flatMap(keyFilesIn).map(({ path }) => path)
  for (const path of [...deniedPlaces(policy, host), ...keys]) {
    const forms = bothForms(path, host)
    // A path that was granted explicitly stays granted, and a hidden place can't be read anyway.
    if (forms.some((form) => isGranted.has(form) || byPath.get(form)?.as === 'hidden')) continue
    denied.push(...forms)
    put(path, 'denied')
  }
  const shielded: string[] = []
  const shielding = [...new Set([...protectedBelow(roots, policy), ...guarded.protectedPaths])]
  for (const path of shielding.filter((each) => !isNested(each))) {
    for (const form of bothForms(path, host)) {
      if (byPath.has(form) || !isWithinAny(form, roots)) continue
      shielded.push(form)
      byPath.set(form, { path: form, as: 'protected' })
    }
  }
  const places = [...byPath.values()].toSorted((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1))
  const closed = places.filter(({ as }) => as === 'hidden' || as === 'denied').map(({ path }) => path)
  const onTheWay = granted.flatMap(({ path }) => ancestors(path).filter((at) => isWithinAny(at, closed)))
  const writable = [...roots, machine.privateTemp]
  const named = [...denied, ...shielded, ...guarded.gitDirectories, ...guarded.gitLinks, ...isGranted]
  const pinned = [
    ...writable,
    ...guarded.gitDirectories,
    ...named.flatMap(ancestors).filter((at) => isWithinAny(at, writable) && host.kindOf(at) === 'directory'),
  ]
  return {
    places,
    pinned: sorted(pinned),
    // Denied entries inside a hidden or denied place aren't visible at all.
    visible: sorted([...onTheWay, ...closed.filter((path) => !isWithinAny(dirname(path), closed))]),
    roots,
    gitDirectories: guarded.gitDirectories,
    gitLinks: guarded.gitLinks,
    nested: shielding.filter(isNested),
  }
}

/** A path as written, and the same path with all existing symlinks resolved. */
function bothForms(path: string, host: FileSystemView): readonly string[] {
  return [...new Set([resolveExisting(path, host), path])]
}

function resolveExisting(path: string, host: FileSystemView): string {
  for (let at = path, rest = ''; ; rest = join(basename(at), rest), at = dirname(at)) {
    const real = host.realPath(at)
    if (real !== undefined) return rest === '' ? real : join(real, rest)
    if (at === '/') return path
  }
}

function isWithinAny(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => isWithin(path, directory))
}

function sorted(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].toSorted()
}
