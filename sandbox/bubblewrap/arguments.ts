/** Everything that the argument list of bwrap depends on. */
type Confinement = {
  readonly network: boolean
  /** Whether ordinary processes may open ports below 1024, which the helper then permits in the network namespace. */
  readonly lowPorts: boolean
  /** Host directories that the sandbox's own /dev hides, and the paths in that /dev at which bwrap shows them while mounts are made. */
  readonly uncovered: readonly { readonly host: string; readonly shown: string }[]
  /** The descriptor from which bwrap reads the helper. */
  readonly helper: number
}

/** The path of the helper inside the sandbox. It is in `/dev`, because each sandbox gets a `/dev` of its own, to which the file can be added. */
export const helperInside = '/dev/portcullis'

/**
 * Returns the options for bwrap(1), without the command. The options only create the namespaces and the sandbox's own /dev and /proc, and make the
 * helper and `uncovered` visible in that /dev. Everything else is done by the helper, which bwrap starts first inside the sandbox: bwrap takes
 * mounts as paths and resolves each path more than once, and the paths may change in between. The helper runs as root of the user namespace that
 * owns the mounts, so that it can change them.
 */
export function bubblewrapArguments(confinement: Confinement): readonly string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(confinement.network ? [] : ['--unshare-net']),
    ...['--uid', '0', '--gid', '0'],
    ...['--cap-drop', 'ALL'],
    ...[...capabilities, ...(confinement.lowPorts ? ['CAP_NET_ADMIN'] : [])].flatMap((name) => ['--cap-add', name]),
    '--new-session',
    '--die-with-parent',
    ...['--bind', '/', '/'],
    ...['--dev', '/dev'],
    ...confinement.uncovered.flatMap(({ host, shown }) => ['--bind', host, shown]),
    ...['--perms', '0555', '--ro-bind-data', `${confinement.helper}`, helperInside],
    ...['--proc', '/proc'],
    ...['--chdir', '/'],
    // Commands don't get their variables through bwrap's own environment, because bwrap runs outside the sandbox, where an `LD_PRELOAD` would affect
    // bwrap itself. The sandbox's first program sets the variables.
    '--clearenv',
  ]
}

/**
 * The capabilities that the sandbox's first program needs to mount file systems, to map its root user to an ordinary id (since Linux 5.12 this
 * requires CAP_SETFCAP, see user_namespaces(7)), and to set the limits of its namespace. An overlay keeps a directory that only its owner could enter if it
 * weren't closed to everybody, which needs CAP_DAC_OVERRIDE. For settings of the network namespace it needs CAP_NET_ADMIN, unless
 * it runs as root of this machine.
 */
const capabilities = [
  'CAP_SYS_ADMIN',
  'CAP_DAC_OVERRIDE',
  'CAP_SETUID',
  'CAP_SETGID',
  'CAP_SETFCAP',
  'CAP_SYS_RESOURCE',
]
