import process from 'node:process'
import { filterRules, type ArgumentTest, type Rule, type SocketAccess } from './rules.ts'
import { rulingOf, syscallsOf, unknownCall, type Ruling, type Syscall } from './syscalls.ts'

/** The parts of a seccomp profile that are used here. Docker accepts the profile as a JSON document. */
type Profile = {
  readonly defaultAction: 'SCMP_ACT_ERRNO'
  readonly defaultErrnoRet: number
  readonly architectures: readonly string[]
  readonly syscalls: readonly Entry[]
}

type Entry = {
  readonly names: readonly Syscall[]
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO'
  readonly errnoRet?: number
  readonly args: readonly Comparison[]
}

type Comparison = {
  readonly index: number
  readonly op: 'SCMP_CMP_MASKED_EQ'
  readonly value: number
  readonly valueTwo: number
}

/**
 * The network access of a container. `entry` is for a container in which everything except our own programs also runs under our filter. Our programs
 * need a unix socket, so the profile refuses fewer kinds of sockets than that filter.
 */
type ContainerSockets = SocketAccess | 'entry'

/**
 * The table of system calls, with the rules about arguments, as a Docker profile. In our filter, the first matching rule decides. In a Docker profile,
 * all entries apply at once, so each entry is for arguments that no other entry matches (see `Region`).
 *
 * Docker ignores the names that it doesn't know yet, so new calls that the table allows seem not to exist in containers of an older Docker.
 *
 * @param unixSockets whether commands can connect to services through unix sockets
 */
export function dockerProfile(sockets: ContainerSockets, unixSockets = false): Profile {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  const rules = filterRules(sockets === 'entry' ? 'loopback' : sockets, unixSockets || sockets === 'entry')
  const named = syscallsOf(architecture)
  const plain = named.filter((name) => !rules.some(({ syscall }) => syscall === name))
  const rulings = [...new Set(plain.map(rulingOf))]
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: unknownCall.errno,
    architectures: [architecture === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
    syscalls: [
      ...rulings.map((ruling) =>
        entry(
          plain.filter((name) => rulingOf(name) === ruling),
          ruling,
        ),
      ),
      ...named
        .filter((name) => !plain.includes(name))
        .flatMap((name) =>
          entries(
            name,
            rules.filter(({ syscall }) => syscall === name),
          ),
        ),
    ],
  }
}

const texts = new Map<string, string>()

/** The profile as JSON. It takes milliseconds to make, so it is made once. */
export function dockerProfileText(sockets: ContainerSockets, unixSockets: boolean): string {
  const key = `${sockets} ${unixSockets}`
  const text = texts.get(key) ?? JSON.stringify(dockerProfile(sockets, unixSockets))
  texts.set(key, text)
  return text
}

/** The entries for one system call with rules, which no two entries match at once. */
function entries(name: Syscall, rules: readonly Rule[]): readonly Entry[] {
  let left: readonly Region[] = [[]]
  const found: Entry[] = []
  for (const { when, then } of [...rules, { when: [], then: rulingOf(name) }]) {
    let matched = left
    left = []
    for (const test of when) {
      left = [...left, ...matched.flatMap((region) => without(region, test))]
      matched = matched.flatMap((region) => within(region, test))
    }
    found.push(...matched.map((region) => entry([name], then, region)))
  }
  return found
}

/** Arguments of a call in which some bits have certain values. `[]` stands for all arguments. */
type Region = readonly Bits[]
type Bits = { readonly argument: number; readonly mask: number; readonly value: number }

/** The part of a region for which a test holds, as regions that don't overlap. */
function within(region: Region, test: ArgumentTest): readonly Region[] {
  const { argument } = test
  if (!('anyOf' in test)) return both(region, { argument, mask: test.masked, value: test.equals })
  // One bit is set, and those below it aren't.
  return bitsOf(test.anyOf).flatMap((bit) =>
    both(region, { argument, mask: (test.anyOf & (2 * bit - 1)) >>> 0, value: bit }),
  )
}

/** The part of a region for which a test doesn't hold, as regions that don't overlap. */
function without(region: Region, test: ArgumentTest): readonly Region[] {
  const { argument } = test
  if ('anyOf' in test) return both(region, { argument, mask: test.anyOf, value: 0 })
  const { masked, equals } = test
  if (both(region, { argument, mask: masked, value: equals }).length === 0) return [region]
  // One bit differs, and those above it don't.
  return bitsOf(masked).flatMap((bit) => {
    const mask = (masked & ~(bit - 1)) >>> 0
    return both(region, { argument, mask, value: ((equals ^ bit) & mask) >>> 0 })
  })
}

/** The arguments of a region in which certain bits also have certain values: one region, or none if they contradict each other. */
function both(region: Region, { argument, mask, value }: Bits): readonly Region[] {
  const known = region.find((bits) => bits.argument === argument) ?? { argument, mask: 0, value: 0 }
  if ((known.mask & mask & (known.value ^ value)) !== 0) return []
  const own = { argument, mask: (known.mask | mask) >>> 0, value: (known.value | value) >>> 0 }
  return [[...region.filter((bits) => bits.argument !== argument), own]]
}

function entry(names: readonly Syscall[], ruling: Ruling, region: Region = []): Entry {
  const args = region.map(({ argument, mask, value }): Comparison => ({
    index: argument,
    op: 'SCMP_CMP_MASKED_EQ',
    value: mask,
    valueTwo: value,
  }))
  return ruling === 'allow'
    ? { names, action: 'SCMP_ACT_ALLOW', args }
    : { names, action: 'SCMP_ACT_ERRNO', errnoRet: ruling.errno, args }
}

function bitsOf(mask: number): readonly number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => (mask & bit) !== 0)
}
