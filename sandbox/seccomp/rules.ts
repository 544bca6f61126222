import type { Syscall } from './syscalls.ts'
import { AF_INET, AF_NETLINK, AF_UNIX, ENOSYS, EPERM, O_CREAT } from '../machine-code/kernel.ts'

/** A test of one argument's low 32 bits. The kernel itself reads no more of the arguments tested here: they are ints or flags below 2^32. */
export type ArgumentTest =
  | { readonly argument: number; readonly masked: number; readonly equals: number }
  | { readonly argument: number; readonly anyOf: number }

/** The result of a call for which all tests hold. The first matching rule decides; without one the call is allowed. */
export type Rule = {
  readonly syscall: Syscall
  readonly when: readonly ArgumentTest[]
  readonly then: 'allow' | { readonly errno: number }
}

/**
 * The network access of a command, as far as system calls can limit it. A filter can't judge addresses: `loopback` is for a network namespace of the
 * command's own, in which nothing but its own loopback exists.
 */
export type SocketAccess = 'loopback' | 'internet'

/** clone(2): all new namespaces except the time namespace, which only clone3 and unshare can create. */
const newNamespaces = 0x7e02_0000
const newTimeNamespace = 0x80

const AF_INET6 = 10
const NETLINK_ROUTE = 0
const SOCK_DGRAM = 2
/** The default of a socket's type, TCP and UDP (ip(7)). */
export const loopbackProtocols: readonly number[] = [0, 6, 17]
const socketTypeBits = 0xf
const allBits = 0xffff_ffff

const setIdBits = 0o6000
/** O_TMPFILE without O_DIRECTORY, whose bit differs between the processors: creates an unnamed file, which linkat(2) can name. */
const O_TMPFILE = 0o2000_0000

/** Builds and tests never need these calls, and each is a way into the kernel, into other processes, or out of a namespace. */
const never: readonly Syscall[] = [
  // Other processes' memory and descriptors
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'process_madvise',
  'pidfd_getfd',
  'kcmp',
  'move_pages',
  'migrate_pages',
  // Large, young or famous attack surface
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'modify_ldt',
  'uselib',
  'lookup_dcookie',
  'nfsservctl',
  // Keyrings belong to the user and are shared with the host
  'add_key',
  'request_key',
  'keyctl',
  // Mounts and namespaces
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'setns',
  'open_by_handle_at',
  'fanotify_init',
  // The machine itself
  'acct',
  'clock_adjtime',
  'clock_settime',
  'delete_module',
  'finit_module',
  'init_module',
  'ioperm',
  'iopl',
  'kexec_file_load',
  'kexec_load',
  'quotactl',
  'quotactl_fd',
  'reboot',
  'setdomainname',
  'sethostname',
  'settimeofday',
  'swapoff',
  'swapon',
  'syslog',
  'vhangup',
]

/**
 * The rules of the filter: a list of refused calls; all others are allowed.
 *
 * @param unixSockets whether commands can connect to services by unix sockets
 */
export function filterRules(sockets: SocketAccess, unixSockets = false): readonly Rule[] {
  return [
    ...never.map((syscall) => refuse(syscall)),
    // Their arguments are behind a pointer, which a filter can't follow. Libraries take "no such call" as a
    // reason to use the older call, whose arguments can be judged.
    refuse('clone3', [], ENOSYS),
    refuse('openat2', [], ENOSYS),
    refuse('clone', [{ argument: 0, anyOf: newNamespaces }]),
    refuse('unshare', [{ argument: 0, anyOf: newNamespaces | newTimeNamespace }]),
    // Typing into the terminal of the process that started us: TIOCSTI, TIOCLINUX.
    ...[0x5412, 0x541c].map((request) => refuse('ioctl', [{ argument: 1, masked: allBits, equals: request }])),
    // Leases on files that the command may only read: a program outside that opens one has to wait (fcntl(2), F_SETLEASE), 45 seconds each time.
    refuse('fcntl', [{ argument: 1, masked: allBits, equals: 1024 }]),
    ...setIdRules,
    ...socketRules(sockets, unixSockets),
  ]
}

/**
 * A set-user-id file in a workspace is a trap for others on the host: owned by the caller, it runs as the caller when another user starts it. Mounts
 * with nosuid protect only the inside.
 */
const setIdRules: readonly Rule[] = (
  [
    ['chmod', 1],
    ['fchmod', 1],
    ['fchmodat', 2],
    ['fchmodat2', 2],
    ['creat', 1],
    ['mknod', 1],
    ['mknodat', 2],
    ['open', 2, 1],
    ['openat', 3, 2],
  ] as const
).map(([syscall, mode, flags]) =>
  refuse(syscall, [
    // Without one of these flags the mode argument is a random register value.
    ...(flags === undefined ? [] : [{ argument: flags, anyOf: O_CREAT | O_TMPFILE }]),
    { argument: mode, anyOf: setIdBits },
  ]),
)

/**
 * Unix sockets reach services of the host by path or abstract name, in any network namespace, so only connected pairs are allowed; but not datagram
 * pairs, from which a program can send to any socket name.
 */
function socketRules(sockets: SocketAccess, unixSockets: boolean): readonly Rule[] {
  const family = (value: number): ArgumentTest => ({ argument: 0, masked: allBits, equals: value })
  // How a program lists its network interfaces, for instance a server that prints its addresses.
  const interfaces: Rule = {
    syscall: 'socket',
    when: [family(AF_NETLINK), { argument: 2, masked: allBits, equals: NETLINK_ROUTE }],
    then: 'allow',
  }
  const internet: readonly Rule[] = [
    { syscall: 'socket', when: [family(AF_INET)], then: 'allow' },
    { syscall: 'socket', when: [family(AF_INET6)], then: 'allow' },
  ]
  // Only the protocols of TCP and UDP: in a network namespace of its own, others only expose more of the kernel.
  const loopback: readonly Rule[] = [AF_INET, AF_INET6].flatMap((value) =>
    loopbackProtocols.map((protocol) => ({
      syscall: 'socket',
      when: [family(value), { argument: 2, masked: allBits, equals: protocol }],
      then: 'allow',
    })),
  )
  return [
    ...({ loopback, internet } as const)[sockets],
    interfaces,
    ...(unixSockets ? [{ syscall: 'socket', when: [family(AF_UNIX)], then: 'allow' } as const] : []),
    refuse('socket'),
    refuse('socketpair', [{ argument: 1, masked: socketTypeBits, equals: SOCK_DGRAM }]),
    { syscall: 'socketpair', when: [family(AF_UNIX)], then: 'allow' },
    refuse('socketpair'),
  ]
}

function refuse(syscall: Syscall, when: readonly ArgumentTest[] = [], errno = EPERM): Rule {
  return { syscall, when, then: { errno } }
}
