import type { Ruling, Syscall } from './syscalls.ts'
import { AF_INET, AF_NETLINK, AF_UNIX, EPERM, O_CREAT, SOCK_STREAM } from '../kernel-constants.ts'

/**
 * A test of the low 32 bits of one argument. This is enough because the kernel itself uses only these bits of the arguments that are tested: they are
 * ints, or flags below 2^32.
 */
export type ArgumentTest =
  | { readonly argument: number; readonly masked: number; readonly equals: number }
  | { readonly argument: number; readonly anyOf: number }

/** A rule for a system call; `then` applies if all tests hold. The first matching rule decides; if none matches, the table does (`rulingOf`). */
export type Rule = {
  readonly syscall: Syscall
  readonly when: readonly ArgumentTest[]
  readonly then: Ruling
}

/**
 * The network access of a command, as far as a system call filter can limit it. A filter can't check addresses, so `loopback` is only for commands
 * that have their own network namespace with nothing but a loopback interface.
 */
export type SocketAccess = 'loopback' | 'internet'

/** The flags of clone(2) for new namespaces. The flag for time namespaces is not among them, because only clone3 and unshare can create one. */
const newNamespaces = 0x7e02_0000
const newTimeNamespace = 0x80

const AF_INET6 = 10
const NETLINK_ROUTE = 0
const SOCK_SEQPACKET = 5
/**
 * The protocols that are allowed for internet sockets if the command has a network namespace of its own: the default protocol for the socket's type,
 * TCP, and UDP (ip(7)).
 */
const loopbackProtocols: readonly number[] = [0, 6, 17]
const socketTypeBits = 0xf
const allBits = 0xffff_ffff

const setIdBits = 0o6000
/**
 * O_TMPFILE without the bit of O_DIRECTORY, because that bit differs between the two architectures. The flag creates an unnamed file, to which
 * linkat(2) can give a name.
 */
const O_TMPFILE = 0o2000_0000

/**
 * The rules about arguments. The table of system calls (`syscalls.ts`) decides about calls and arguments that no rule matches.
 *
 * @param unixSockets whether commands can connect to services through unix sockets
 */
export function filterRules(sockets: SocketAccess, unixSockets = false): readonly Rule[] {
  return [
    refuse('clone', [{ argument: 0, anyOf: newNamespaces }]),
    refuse('unshare', [{ argument: 0, anyOf: newNamespaces | newTimeNamespace }]),
    // With these requests (TIOCSTI, TIOCLINUX), a command could type into the terminal in which we were started.
    ...[0x5412, 0x541c].map((request) => refuse('ioctl', [{ argument: 1, masked: allBits, equals: request }])),
    // Refuses leases, because a command could take one on a file that it may only read. A program outside the sandbox that opens the file then has to
    // wait 45 seconds each time (fcntl(2), F_SETLEASE).
    refuse('fcntl', [{ argument: 1, masked: allBits, equals: 1024 }]),
    ...personalityRules,
    ...setIdRules,
    ...socketRules(sockets, unixSockets),
  ]
}

/**
 * The personalities that docker's default profile allows (PER_LINUX, PER_LINUX32, and each with UNAME26), also with ADDR_NO_RANDOMIZE, which
 * debuggers and sanitizers set for the programs that they start, and the query for the current one. The others make memory executable, map the lowest
 * page, or use code of the kernel for other systems' programs.
 */
const personalityRules: readonly Rule[] = [
  { syscall: 'personality', when: [{ argument: 0, masked: ~0x6_0008 >>> 0, equals: 0 }], then: 'allow' },
  { syscall: 'personality', when: [{ argument: 0, masked: allBits, equals: allBits }], then: 'allow' },
  refuse('personality'),
]

/**
 * Rules against making set-user-id and set-group-id files. Such a file in a workspace is dangerous on the host: it belongs to the caller, so other
 * users who start it get the caller's rights. Mounting the workspace with nosuid would have an effect only inside the sandbox.
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
    // If neither flag is set, the kernel doesn't use the mode argument, and its register may contain any value.
    ...(flags === undefined ? [] : [{ argument: flags, anyOf: O_CREAT | O_TMPFILE }]),
    { argument: mode, anyOf: setIdBits },
  ]),
)

/**
 * The rules for sockets. Through a unix socket, a program can reach services of the host by path (in any network namespace) or by abstract name.
 * Therefore, unless `unixSockets` is set, commands may create only connected pairs of streams and packets. Pairs of datagram sockets can send to any
 * socket name, and the kernel makes datagram sockets for other types too (SOCK_RAW).
 */
function socketRules(sockets: SocketAccess, unixSockets: boolean): readonly Rule[] {
  const family = (value: number): ArgumentTest => ({ argument: 0, masked: allBits, equals: value })
  // A netlink route socket. A program needs one to list network interfaces, as a server does to print its addresses.
  const interfaces: Rule = {
    syscall: 'socket',
    when: [family(AF_NETLINK), { argument: 2, masked: allBits, equals: NETLINK_ROUTE }],
    then: 'allow',
  }
  const internet: readonly Rule[] = [
    { syscall: 'socket', when: [family(AF_INET)], then: 'allow' },
    { syscall: 'socket', when: [family(AF_INET6)], then: 'allow' },
  ]
  // Only the default protocol, TCP and UDP are allowed. In a separate network namespace, other protocols would be of no use, and would expose more of
  // the kernel.
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
    ...[SOCK_STREAM, SOCK_SEQPACKET].map((type): Rule => ({
      syscall: 'socketpair',
      when: [family(AF_UNIX), { argument: 1, masked: socketTypeBits, equals: type }],
      then: 'allow',
    })),
    refuse('socketpair'),
  ]
}

function refuse(syscall: Syscall, when: readonly ArgumentTest[] = []): Rule {
  return { syscall, when, then: { errno: EPERM } }
}
