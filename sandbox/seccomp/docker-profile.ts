import process from 'node:process'
import { filterRules, loopbackProtocols, type SocketAccess } from './rules.ts'
import { AF_NETLINK, EPERM } from '../machine-code/kernel.ts'

/** The parts of a seccomp profile that are used here. Docker accepts the profile as a JSON document. */
type Profile = {
  readonly defaultAction: 'SCMP_ACT_ALLOW'
  readonly architectures: readonly string[]
  readonly syscalls: readonly Entry[]
}

type Entry = {
  readonly names: readonly [string]
  readonly action: 'SCMP_ACT_ERRNO'
  readonly errnoRet: number
  readonly args: readonly Comparison[]
}

type Comparison = {
  readonly index: number
  readonly op: 'SCMP_CMP_MASKED_EQ' | 'SCMP_CMP_EQ' | 'SCMP_CMP_NE' | 'SCMP_CMP_GE'
  readonly value: number
  readonly valueTwo?: number
}

/**
 * The network access of a container. `entry` is for a container in which everything except our own programs also runs under our filter. Our programs
 * need a unix socket, so the profile refuses fewer kinds of sockets than that filter.
 */
type ContainerSockets = SocketAccess | 'entry'

/**
 * The filter's rules as a Docker profile. In our filter, the first matching rule decides. In a Docker profile, rules can only refuse calls, and all
 * of them apply at once. Therefore a test for "any of these bits" becomes one refusal for each bit, and a list of allowed socket families becomes
 * refusals of all other families.
 *
 * @param unixSockets whether commands can connect to services through unix sockets
 */
export function dockerProfile(sockets: ContainerSockets, unixSockets = false): Profile {
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: [process.arch === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
    syscalls: [
      ...filterRules(sockets === 'entry' ? 'loopback' : sockets).flatMap((rule): readonly Entry[] => {
        if (rule.then === 'allow' || rule.syscall === 'socket' || rule.syscall === 'socketpair') return []
        const { errno } = rule.then
        const combinations = rule.when.reduce<readonly (readonly Comparison[])[]>(
          (before, test) => before.flatMap((list) => comparisons(test).map((one) => [...list, one])),
          [[]],
        )
        return combinations.map((args) => refuse(rule.syscall, args, errno))
      }),
      ...socketEntries(sockets, unixSockets || sockets === 'entry'),
    ],
  }
}

function comparisons(test: ReturnType<typeof filterRules>[number]['when'][number]): readonly Comparison[] {
  if ('anyOf' in test) {
    return bitsOf(test.anyOf).map((bit) => masked(test.argument, bit, bit))
  }
  return [masked(test.argument, test.masked, test.equals)]
}

function socketEntries(sockets: ContainerSockets, unixSockets: boolean): readonly Entry[] {
  const pairs = [
    refuse('socketpair', [{ index: 0, op: 'SCMP_CMP_NE', value: 1 }]),
    refuse('socketpair', [masked(1, 0xf, 2)]),
  ]
  const refused = [0, ...(unixSockets ? [] : [1]), 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
  return [
    ...refused.map((family) => refuse('socket', [{ index: 0, op: 'SCMP_CMP_EQ', value: family }])),
    refuse('socket', [{ index: 0, op: 'SCMP_CMP_GE', value: AF_NETLINK + 1 }]),
    refuse('socket', [
      { index: 0, op: 'SCMP_CMP_EQ', value: AF_NETLINK },
      { index: 2, op: 'SCMP_CMP_NE', value: 0 },
    ]),
    ...(sockets === 'loopback' ? [2, 10].flatMap(otherProtocols) : []),
    ...pairs,
  ]
}

/**
 * Refuses all protocols of a `family` that are not in `loopbackProtocols`. Each protocol needs its own rule, because one rule can't test an argument
 * twice.
 */
function otherProtocols(family: number): readonly Entry[] {
  const last = Math.max(...loopbackProtocols)
  const below = Array.from({ length: last }, (_, protocol) => protocol).filter(
    (each) => !loopbackProtocols.includes(each),
  )
  const inFamily: Comparison = { index: 0, op: 'SCMP_CMP_EQ', value: family }
  return [
    ...below.map((value) => refuse('socket', [inFamily, { index: 2, op: 'SCMP_CMP_EQ', value }])),
    refuse('socket', [inFamily, { index: 2, op: 'SCMP_CMP_GE', value: last + 1 }]),
  ]
}

function refuse(name: string, args: readonly Comparison[], errnoRet = EPERM): Entry {
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet, args }
}

function masked(index: number, mask: number, value: number): Comparison {
  return { index, op: 'SCMP_CMP_MASKED_EQ', value: mask, valueTwo: value }
}

function bitsOf(mask: number): readonly number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => (mask & bit) !== 0)
}
