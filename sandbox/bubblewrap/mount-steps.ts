import { type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { lstatSync } from '../host-paths.ts'
import { SandboxError } from '../sandbox-error.ts'
import { cachedFileSystem, type CachedFileSystem } from '../cached-file-system.ts'
import type { Mount } from '../mount.ts'
import { isWithin } from '../paths.ts'
import { mountFlags, type Identity, type Step } from '../helper/steps.ts'

/** What `mountSteps` depends on besides the planned mounts. */
type Stage = {
  /** The run's temporary directory on the host, which commands see as `/tmp`. */
  readonly privateTemp: string
  /** The run's empty directory on the host, which commands see in place of hidden directories. */
  readonly emptyDirectory: string
  /**
   * Finds the directories of this run and of other runs that are inside host directories visible to commands. The steps hide them, because no command
   * may see a run's directory.
   */
  readonly runDirectories: (isSeen: (place: string) => boolean) => readonly string[]
  /** Returns the kind and the identity of the host's entry at a path. Throws if there is none. */
  readonly look: (path: string) => Looked
}

type Looked = { readonly kind: 'file' | 'directory'; readonly identity: Identity }

/** Looks up an entry on the host. Throws `path-changed` if it is missing or a symlink: the plan was made from paths without symlinks. */
export function lookAtHost(path: string, lstat: CachedFileSystem['lstat'] = cachedFileSystem().lstat): Looked {
  const stat = lstat(path)
  if (stat === undefined || stat.isSymbolicLink()) {
    throw new SandboxError('path-changed', { backend: 'bubblewrap', path })
  }
  return { kind: stat.isDirectory() ? 'directory' : 'file', identity: identityOf(path, stat) }
}

/** Throws `path-changed` if the entry at a path is no longer the one that was there when the sandbox was opened. */
export function requireSame(path: string, identity: Identity | undefined): void {
  const now = lookAtHost(path).identity
  if (identity === undefined || (now.device === identity.device && now.inode === identity.inode)) return
  throw new SandboxError('path-changed', { backend: 'bubblewrap', path })
}

function identityOf(path: string, { dev, ino }: Stats): Identity {
  if (Number.isSafeInteger(dev) && Number.isSafeInteger(ino)) return { device: BigInt(dev), inode: BigInt(ino) }
  // The device or inode number is too large for a JavaScript number to be exact, so the query is repeated with bigints. Using bigints for every query
  // would take twice as long.
  const exact = lstatSync(path, { bigint: true })
  return { device: exact.dev, inode: exact.ino }
}

/**
 * The host's shared memory: its path on the host, and the path at which bwrap shows it while mounts are made. The two paths differ, because the
 * sandbox's own /dev hides the first one.
 */
export const hostSharedMemory = { host: '/dev/shm', shown: '/dev/portcullis-shm' } as const

const coverSharedMemory: Step = {
  do: 'mount',
  what: { held: 'empty' },
  path: hostSharedMemory.shown,
}

/** The step that mounts the sandbox's own shared memory. It also limits the number of files there, because even an empty file takes kernel memory. */
const ownSharedMemory: Step = { do: 'mount', what: 'shared-memory', path: '/dev/shm' }

const { readOnly, noSetId, noDevices, noPrograms } = mountFlags
const sealed = { set: readOnly | noSetId | noDevices | noPrograms }

/**
 * Returns the steps that make the planned mounts. When they begin, all of the host's files are visible with the caller's own rights, except that /dev
 * and /proc are bwrap's. The steps first open the sources of all mounts, because later mounts may cover them. Then they make the file system
 * read-only (or, if the plan makes `/` writable, only /sys, /proc and /dev). Finally they add the mounts, outermost first.
 */
export function mountSteps(mounts: readonly Mount[], stage: Stage): readonly Step[] {
  const whole = mounts.find(({ path }) => path === '/')?.as === 'writable'
  const byPath = new Map(mounts.filter(({ path }) => path !== '/').map((mount) => [mount.path, mount]))
  const inner = [...byPath.values()]
  const base = whole ? 'writable' : 'base'
  const taken: Step[] = []
  const placed = inner.flatMap((mount) =>
    place(mount, enclosingMount(mount.path, byPath) ?? { as: base }, stage, taken),
  )
  const held = (as: string, path: string): Step => ({
    do: 'hold',
    as,
    path: behindOwnDevices(path),
    identity: stage.look(path).identity,
  })
  const before = [held('nothing', '/dev/null'), held('empty', stage.emptyDirectory), ...taken]
  return [
    ...before,
    ...(usesSharedMemory(before) ? [coverSharedMemory] : []),
    ownSharedMemory,
    ...(whole ? readOnlyParts : readOnlyWhole),
    ...placed,
    ...stage
      .runDirectories((place) => !isHidden(enclosingMount(join(place, 'run'), byPath)?.as))
      // Another run may end at any time, and its directory then disappears. The step is skipped in that case.
      .map((path): Step => ({ do: 'mount', what: { held: 'empty' }, path, change: sealed, create: 'nothing' })),
    // These mounts are made read-only last, after everything below them has been mounted, because mount points have to be created in them.
    ...inner.flatMap(({ as, path }): readonly Step[] =>
      as === 'tmpfs' ? [{ do: 'change', path, change: { set: readOnly } }] : [],
    ),
  ]
}

/** Whether any step uses a path in the host's shared memory. */
export function usesSharedMemory(steps: readonly Step[]): boolean {
  return steps.some(({ path }) => isWithin(path, hostSharedMemory.shown))
}

/** Where the sandbox's first program finds what is at a path of the host: bwrap's own /dev hides the host's shared memory. */
export function behindOwnDevices(path: string): string {
  const { host, shown } = hostSharedMemory
  return isWithin(path, host) ? shown + path.slice(host.length) : path
}

/** Steps that keep the terminals and the shared memory of bwrap's own /dev writable. */
const openParts: readonly Step[] = ['/dev/shm', '/dev/pts'].map((path) => ({
  do: 'change',
  path,
  change: { clear: readOnly },
}))

const readOnlyWhole: readonly Step[] = [
  { do: 'change', path: '/', change: { set: readOnly, recursive: true } },
  ...openParts,
]

/**
 * Steps that make /sys, /proc and /dev read-only even in plans in which `/` itself is writable. If the caller is root on the host, the files there
 * that change the kernel's settings belong to the caller, so commands could otherwise write to them, whatever user id they have in the sandbox.
 */
const readOnlyParts: readonly Step[] = [
  ...['/sys', '/proc', '/dev'].map((path): Step => ({
    do: 'change',
    path,
    change: { set: readOnly, recursive: true },
  })),
  ...openParts,
]

/** The innermost mount that contains a mount, or the host's file system if no mount does. */
type EnclosingMount = Mount | { readonly as: 'base' | 'writable' }

function isHidden(as: Mount['as'] | undefined): boolean {
  return as === 'private' || as === 'tmpfs' || as === 'empty-directory'
}

function enclosingMount(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let at = dirname(path); at !== '/'; at = dirname(at)) {
    const mount = mounts.get(at)
    if (mount !== undefined) return mount
  }
  return undefined
}

/** The host path of the entry that a mount covers. If the enclosing mount shows another source, the entry is in that source. */
function underneath(path: string, enclosing: EnclosingMount): string {
  return 'path' in enclosing && enclosing.source !== undefined
    ? enclosing.source + path.slice(enclosing.path.length)
    : path
}

function place(mount: Mount, enclosing: EnclosingMount, stage: Stage, taken: Step[]): readonly Step[] {
  const { path, as } = mount
  const outer = enclosing.as
  const isMade = outer === 'private' || outer === 'tmpfs' || isWithin(path, '/dev')
  // Nobody has seen the overlay yet, and its entries have other numbers than those of its layers.
  const isLayered = outer === 'layered' || outer === 'layered-read-only'
  const there = isMade || isLayered ? undefined : stage.look(underneath(path, enclosing))
  const put = (what: Extract<Step, { do: 'mount' }>['what'], change: Step['change'], create: Step['create']): Step => ({
    do: 'mount',
    what,
    path,
    ...(isMade ? { create } : { identity: there?.identity }),
    ...(change === undefined ? {} : { change }),
  })
  const take = (source: string): { readonly what: { readonly taken: string }; readonly create: Step['create'] } => {
    const found = stage.look(source)
    taken.push({ do: 'take', as: path, path: behindOwnDevices(source), identity: found.identity })
    return { what: { taken: path }, create: found.kind === 'directory' ? 'directory' : 'file' }
  }
  switch (as) {
    case 'writable': {
      // The path becomes a mount point within a writable mount, so that it can't be renamed.
      if (outer === 'writable' && mount.source === undefined) return [put('itself', undefined, undefined)]
      if (isLayered && mount.source === undefined) return [put('itself', { clear: readOnly }, undefined)]
      const { what, create } = take(mount.source ?? path)
      return [put(what, undefined, create)]
    }
    case 'read-only': {
      if (mount.source === undefined && !isMade && outer !== 'empty-directory') {
        // Nobody can write to the entry or replace it, because everything around it is already read-only.
        if (outer === 'base' || outer === 'read-only') return []
        return [put('itself', { set: readOnly, recursive: true }, undefined)]
      }
      const { what, create } = take(mount.source ?? path)
      return [put(what, { set: readOnly, recursive: true }, create)]
    }
    case 'cache':
    case 'layered':
    case 'layered-read-only': {
      const [lower, storage] = [mount.source ?? path, mount.storage ?? '']
      const cover = as === 'cache' ? { change: { set: readOnly, recursive: true } } : {}
      taken.push(
        { do: 'hold', as: path, path: behindOwnDevices(lower), identity: stage.look(lower).identity },
        { do: 'cover', held: path, path: behindOwnDevices(storage), identity: stage.look(storage).identity, ...cover },
      )
      return [put({ taken: path }, as === 'layered-read-only' ? { set: readOnly } : undefined, 'directory')]
    }
    case 'replaced-file': {
      const { what } = take(mount.source ?? path)
      return [put(what, { set: readOnly }, 'file')]
    }
    case 'private': {
      const { what, create } = take(mount.source ?? stage.privateTemp)
      return [put(what, undefined, create)]
    }
    case 'tmpfs':
      return [put('memory', undefined, 'directory')]
    case 'empty-directory':
      return [put({ held: 'empty' }, sealed, 'directory')]
    case 'refused-file':
      // /dev/null is mounted here, with `nodev`, so opening the file fails with EACCES. Unlike a placeholder, it needn't be removed later.
      return [put({ held: 'nothing' }, sealed, 'file')]
    default:
      return as satisfies never
  }
}
