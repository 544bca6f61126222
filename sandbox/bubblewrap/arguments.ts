import type { Mount } from '../mounts.ts'

/** Everything that the argument list of bwrap depends on. */
type Confinement = {
  readonly mounts: readonly Mount[]
  readonly network: boolean
  /** User and group id inside: the caller's own, or an ordinary one for a caller who is root outside. */
  readonly identity: { readonly uid: number; readonly gid: number }
  /** The run's directories on the host. */
  readonly privateTemp: string
  readonly emptyDirectory: string
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** Whether this bwrap knows `--size` (0.8 and later). */
  readonly sizedTemp: boolean
  /** The descriptor from which bwrap reads the system call filter. */
  readonly filterDescriptor: number
  /** Programs of ours to show, each read from a descriptor. */
  readonly shown: readonly ShownProgram[]
}

/** A program that exists inside only, at a path in the sandbox's own `/dev`, and the descriptor that it is sent through. */
export type ShownProgram = { readonly descriptor: number; readonly path: string; readonly program: Uint8Array }

/** The most that a command may keep in `/dev/shm`, which is memory. */
const sharedMemoryBytes = 256 * 1024 * 1024

/**
 * The options for bwrap(1), without the command. The environment is part of them: it goes to the command and never to
 * bwrap itself, which runs outside and would obey an `LD_PRELOAD`.
 */
export function bubblewrapArguments(confinement: Confinement): readonly string[] {
  const { uid, gid } = confinement.identity
  // A root that is all of the host must not be mounted over the sandbox's own /dev and /proc.
  const [whole, mounts] = [confinement.mounts.find(isWhole), confinement.mounts.filter((mount) => !isWhole(mount))]
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(confinement.network ? [] : ['--unshare-net']),
    ...['--uid', `${uid}`, '--gid', `${gid}`],
    ...['--cap-drop', 'ALL'],
    ...['--seccomp', `${confinement.filterDescriptor}`],
    '--new-session',
    '--die-with-parent',
    ...[whole?.as === 'writable' ? '--bind' : '--ro-bind', '/', '/'],
    // Read-only with all the rest otherwise, where there is one.
    ...(whole?.as === 'writable' ? ['--ro-bind-try', '/sys', '/sys'] : []),
    ...['--dev', '/dev'],
    ...confinement.shown.flatMap(shownArguments),
    ...['--perms', '1777', ...(confinement.sizedTemp ? ['--size', `${sharedMemoryBytes}`] : []), '--tmpfs', '/dev/shm'],
    ...['--proc', '/proc'],
    ...mounts.flatMap((mount) => mountArguments(mount, confinement)),
    // Filled before it is closed: mount points below it are made by bwrap itself.
    ...mounts.filter(({ as }) => as === 'hollow').flatMap(({ path }) => ['--remount-ro', path]),
    ...['--remount-ro', '/dev'],
    // A caller who is root outside still owns the kernel's settings below /proc, whatever its id inside.
    ...['--remount-ro', '/proc'],
    ...['--chdir', confinement.cwd],
    '--clearenv',
    ...Object.entries(confinement.variables).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

function isWhole({ path }: Mount): boolean {
  return path === '/'
}

function shownArguments({ descriptor, path }: ShownProgram): readonly string[] {
  return ['--perms', '0555', '--ro-bind-data', `${descriptor}`, path]
}

function mountArguments(mount: Mount, confinement: Confinement): readonly string[] {
  switch (mount.as) {
    case 'writable':
      return ['--bind', mount.path, mount.path]
    case 'read-only':
      return ['--ro-bind', mount.path, mount.path]
    case 'private':
      return ['--bind', confinement.privateTemp, mount.path]
    case 'hollow':
      return ['--perms', '0755', '--tmpfs', mount.path]
    case 'empty-directory':
      return ['--ro-bind', confinement.emptyDirectory, mount.path]
    case 'refused-file':
      // A device behind a mount without devices: opening it fails with EACCES, and there is nothing to read or to clean up.
      return ['--ro-bind', '/dev/null', mount.path]
    default:
      return mount.as satisfies never
  }
}
