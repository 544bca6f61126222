// execa isn't used here, because the calls are synchronous: some happen just before this process is replaced.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { lstatSync, readFileSync } from '../host-paths.ts'
import { hostFileSystem } from '../file-system-view.ts'
import { decodeName } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { systemProgram } from '../host-program.ts'
import { patience } from '../process/patience.ts'
import { SandboxError } from '../sandbox-error.ts'

/**
 * Overlays to mount in the namespace of one process. For overlay number N, `directory` contains `lower-N` (a link to the lower tree), `upper-N` and
 * `work-N`. If a repository is to be mounted as the tree's `.git`, `directory` also contains `repository-N/.git`.
 */
export type Overlays = {
  readonly directory: string
  /** The mount points of the overlays, in the order of their numbers. They are directories outside the trees that the overlays show. */
  readonly mounts: readonly string[]
}

/**
 * A way to create the namespace. `mounts` creates only a mount namespace, which requires root. It is preferred if it is allowed, because files then
 * keep their owners. `user` creates a user namespace too.
 */
type Way = 'mounts' | 'user'

/** The command that starts a program with the overlays mounted, or a message for the user that says why the namespace can't be created here. */
export type OverlayStart = { readonly argv: readonly [string, ...string[]] } | { readonly why: string }

// Mount options contain only fixed names, because a `:` or `,` in any other path would count as the end of that path. The last program that the
// script starts has no capabilities, so it can't unmount anything. Programs are given as absolute paths, because PATH may contain directories that
// commands can write to. With `xino=on`, which older kernels don't know, the overlay shows the inode numbers of its layers even if they are on
// different file systems.
const mountScript = `
( mount=$1
  cd "$2" || exit
  number=0
  shift 2
  while [ "$1" != -- ]; do
    layers=lowerdir=lower-$number,upperdir=upper-$number,workdir=work-$number,userxattr
    "$mount" -i -t overlay overlay -o "$layers,xino=on" "$1" 2>/dev/null ||
      "$mount" -i -t overlay overlay -o "$layers" "$1" || exit
    git=repository-$number/.git
    if [ -d "$git" ]; then "$mount" -i --bind "$git" "$1/.git" || exit; fi
    number=$((number + 1))
    shift
  done ) || exit
while [ "$1" != -- ]; do shift; done
shift
exec "$@"`

// Starts one `du` per tree in the background, and then runs the program.
const lookUpScript = `
while [ "$1" != -- ]; do
  ( ulimit -t 10; exec "$0" --pdeathsig KILL "$1" -sx -- "$2" ) </dev/null >/dev/null 2>&1 &
  shift 2
done
shift
exec "$@"`

/**
 * Finds out how a program can be started with these overlays mounted, by starting a program that does nothing.
 *
 * @internal
 */
export function overlayStart(overlays: Overlays, program: readonly string[]): OverlayStart {
  if (process.platform !== 'linux') return { why: 'overlays are available only on Linux' }
  let why = ''
  for (const way of process.geteuid?.() === 0 ? (['mounts', 'user'] as const) : (['user'] as const)) {
    try {
      const [file, ...words] = startWords(way, overlays, [systemProgram('true')])
      const { error, status, stderr } = spawnSync(file, words, {
        encoding: 'utf8',
        env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
        stdio: ['ignore', 'ignore', 'pipe'],
        ...patience,
      })
      if (error === undefined && status === 0) return { argv: startWords(way, overlays, program) }
      why = error?.message ?? explainRefusal(stderr, readSetting('kernel/apparmor_restrict_unprivileged_userns'))
    } catch (error) {
      why = (error as Error).message
    }
  }
  return { why }
}

function startWords(
  way: Way,
  { directory, mounts }: Overlays,
  program: readonly string[],
): readonly [string, ...string[]] {
  const unshare = systemProgram('unshare')
  const user = [unshare, '--user', `--map-user=${process.geteuid?.()}`, `--map-group=${process.getegid?.()}`, '--']
  const last = way === 'user' ? [...user, ...program] : program
  return [
    unshare,
    ...(way === 'user' ? ['--user', '--map-root-user'] : []),
    // Mounts that the host makes later appear in the namespace, but mounts that are made in the namespace don't appear on the host.
    ...['--mount', '--propagation', 'slave', '--'],
    ...['/bin/sh', '-c', mountScript, 'sh', systemProgram('mount'), directory, ...mounts, '--', ...last],
  ]
}

/**
 * Returns a command line that starts a program, and in the background one `du` for each overlay, which looks up all of the overlay's files. Each `du`
 * is killed when the program ends (unless the program ends before `du` has started), or after ten seconds of processor time. Without this, the first
 * command that examines all files, such as `git status`, takes twice as long as usual, because the kernel has to create the overlays' inodes. Returns
 * the program's own command line if `setpriv` or `du` isn't installed.
 *
 * @param mounts the mount points of the overlays
 * @internal
 */
export function withLookUp(mounts: readonly string[], program: readonly string[]): readonly string[] {
  try {
    const [setpriv, du] = [systemProgram('setpriv'), systemProgram('du')]
    return ['/bin/sh', '-c', lookUpScript, setpriv, ...mounts.flatMap((mount) => [du, mount]), '--', ...program]
  } catch (error) {
    if (error instanceof SandboxError) return program
    throw error
  }
}

/**
 * Explains, from the messages of `unshare` and `mount`, why a namespace with an overlay could not be created, and says what would help.
 *
 * @param restricted the system's value of `kernel.apparmor_restrict_unprivileged_userns`
 * @param user the user who tried it. Default: this process's user
 * @internal
 */
export function explainRefusal(said: string, restricted: string | undefined, user = process.geteuid?.()): string {
  const [first = ''] = said.trim().split('\n')
  const line = first === '' ? 'no reason was given' : first
  if (restricted === '1' && user !== 0) {
    return (
      `AppArmor doesn't let a user namespace mount anything (${line}): an administrator can allow it with ` +
      'sysctl kernel.apparmor_restrict_unprivileged_userns=0, or with a profile that contains "userns," for the programs unshare and mount'
    )
  }
  if (/unshare failed|uid_map|gid_map|setgroups/.test(line))
    return `the system does not let this process create a namespace (${line})`
  if (/wrong fs type|bad option|Invalid argument/.test(line)) {
    return `no overlay can be stored on this file system (${line}): set XDG_STATE_HOME to a folder on a local disk that is not an overlay itself`
  }
  return `no overlay can be mounted (${line})`
}

function readSetting(name: string): string | undefined {
  try {
    return readFileSync(join('/proc/sys', name), 'utf8').trim()
  } catch {
    return undefined
  }
}

/**
 * Makes a file that removes, in the upper layer of an overlay, the entry of the same name (see overlayfs in the kernel's documentation). It can be linked to as
 * many names as needed.
 *
 * @throws Error if this user can't make one here
 * @internal
 */
export function makeWhiteout(path: string): void {
  const options = { encoding: 'utf8', env: { LC_ALL: 'C' }, ...patience } as const
  const { status, stderr, error } = spawnSync(systemProgram('mknod'), [path, 'c', '0', '0'], options)
  if (status !== 0) throw new Error(`no whiteout can be made: ${error?.message ?? stderr.trim()}`)
}

/**
 * The mounts below a directory. An overlay would show the files that these mounts cover.
 *
 * @internal
 */
export function mountsBelow(directory: string): readonly string[] {
  return mountPoints().filter((point) => point !== directory && isWithin(point, directory))
}

/**
 * Whether all of the directories are mount points.
 *
 * @internal
 */
export function areMounted(directories: readonly string[]): boolean {
  const points = new Set(mountPoints())
  return directories.every((directory) => points.has(hostFileSystem.realPath(directory) ?? directory))
}

/**
 * All mount points. They are the fifth field of each line in proc_pid_mountinfo(5), where some characters are written as `\` and three octal digits.
 */
function mountPoints(): readonly string[] {
  return mountInfo().map(({ point }) => point)
}

/**
 * The options of the file system that is mounted at a path; empty if there is none. They are the last field of a line in proc_pid_mountinfo(5).
 *
 * @internal
 */
export function mountOptions(path: string): readonly string[] {
  const real = hostFileSystem.realPath(path) ?? path
  return mountInfo().findLast(({ point }) => point === real)?.options ?? []
}

function mountInfo(): readonly { readonly point: string; readonly options: readonly string[] }[] {
  if (lstatSync('/proc/self/mountinfo', { throwIfNoEntry: false }) === undefined) return []
  return readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => line.split(' '))
    .map((fields) => ({ point: plain(fields[4] ?? ''), options: (fields.at(-1) ?? '').split(',') }))
}

function plain(field: string): string {
  return decodeName(field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))))
}
