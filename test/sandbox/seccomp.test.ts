import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SandboxPolicyInput } from '../../sandbox/index.ts'
import { testUnless } from '../support/needs.ts'
import { compileFilter } from '../../sandbox/seccomp/compile.ts'
import { filterRules, type SocketAccess } from '../../sandbox/seccomp/rules.ts'
import { rulingOf, syscallNumber, syscallsOf, type Architecture, type Syscall } from '../../sandbox/seccomp/syscalls.ts'
import { interpret, type Verdict } from './bpf.ts'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'
import { callingProgram, type Argument } from './tiny-program.ts'

const EPERM = 1
const ENOSYS = 38
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 }
const noFile = Buffer.from('/absent/file\0')

type Case = {
  readonly claim: string
  readonly syscall: Syscall
  readonly args: readonly Argument[]
  /** The error that the filter returns or, for an allowed call, an error that the call must not return. */
  readonly refused?: number
  readonly allowed?: true
}

const refused = (syscall: Syscall, args: readonly Argument[] = [], errno = EPERM, claim = ''): Case => ({
  claim: `${syscall} ${claim}is refused`,
  syscall,
  args,
  refused: errno,
})
const allowed = (syscall: Syscall, args: readonly Argument[], claim: string): Case => ({
  claim: `${syscall} ${claim}is let through`,
  syscall,
  args,
  allowed: true,
})

/** The newer calls that nobody needs, each of which the table refuses on purpose. */
const unneeded: readonly Syscall[] = [
  'statmount',
  'listmount',
  'lsm_get_self_attr',
  'lsm_set_self_attr',
  'lsm_list_modules',
  'cachestat',
  'memfd_secret',
  'process_mrelease',
  'vmsplice',
  'file_getattr',
  'file_setattr',
]

/**
 * The cases that are the same for every kind of network access. Arguments are chosen so that the kernel itself would return a different error, except
 * where it checks for a capability first.
 */
const always: readonly Case[] = [
  refused('process_madvise', [-1]),
  refused('pidfd_getfd', [-1]),
  refused('kcmp', [0x7fffffff, 0x7fffffff]),
  refused('move_pages', [0x7fffffff]),
  refused('migrate_pages', [0x7fffffff]),
  refused('io_uring_setup', [1, 0]),
  refused('io_uring_enter', [-1]),
  refused('io_uring_register', [-1]),
  refused('bpf', [0, 0, 0]),
  refused('perf_event_open', [0, 0, 0, -1, 0]),
  refused('userfaultfd', [-1]),
  refused('modify_ldt', [0, 0, 0]),
  refused('uselib', [noFile], ENOSYS),
  refused('lookup_dcookie', [0, 0, 0], ENOSYS),
  refused('nfsservctl', [], ENOSYS),
  refused('add_key', [0, 0, 0, 0, 0]),
  refused('request_key', [0, 0, 0, 0]),
  refused('keyctl', [0, -3, 0]),
  refused('mount', [0, noFile, 0, 0, 0]),
  refused('umount2', [noFile, 0]),
  refused('pivot_root', [noFile, noFile]),
  refused('chroot', [noFile]),
  refused('open_tree', [-1, noFile, 0]),
  refused('open_tree_attr', [-1, noFile, 0]),
  refused('move_mount', [-1, noFile, -1, noFile, 0]),
  refused('fsopen', [noFile, 0]),
  refused('fsconfig', [-1]),
  refused('fsmount', [-1]),
  refused('fspick', [-1, noFile, 0]),
  refused('mount_setattr', [-1, noFile, 0]),
  refused('setns', [-1, 0]),
  refused('open_by_handle_at', [-1, 0, 0]),
  refused('fanotify_init', [-1, 0]),
  refused('acct', [noFile]),
  refused('clock_adjtime', [0, 0]),
  refused('clock_settime', [0, 0]),
  refused('delete_module', [0, 0]),
  refused('finit_module', [-1]),
  refused('init_module', [0, 0, 0]),
  refused('ioperm', [0, 1, 1]),
  refused('iopl', [3]),
  refused('kexec_file_load', [-1]),
  refused('kexec_load', [0, 0, 0, 0]),
  refused('quotactl', [0, 0, 0, 0]),
  refused('quotactl_fd', [-1]),
  refused('reboot', [0, 0, 0, 0]),
  refused('setdomainname', [0, 0]),
  refused('sethostname', [0, 0]),
  refused('settimeofday', [0, 0]),
  refused('swapoff', [noFile]),
  refused('swapon', [noFile, 0]),
  refused('syslog', [10, 0, 0]),
  refused('vhangup', []),
  refused('clone3', [0, 0], ENOSYS),
  refused('openat2', [-100, noFile, 0, 0], ENOSYS),
  ...unneeded.map((syscall) => refused(syscall, [-1, -1, -1, -1, -1, -1], ENOSYS)),
  ...(['get_mempolicy', 'mbind', 'set_mempolicy', 'set_mempolicy_home_node', 'fanotify_mark'] as const).map((syscall) =>
    refused(syscall, [-1, -1, -1, -1, -1, -1]),
  ),
  allowed('ptrace', [0x4206, 0x7fffffff, 0, 0], 'of a process that does not exist '),
  allowed('process_vm_readv', [0x7fffffff], 'of a process that does not exist '),
  allowed('process_vm_writev', [0x7fffffff], 'of a process that does not exist '),
  ...[0, 8, 0x2_0000, 0x4_0000, 0x6_0008, 0xffff_ffff].map((persona) =>
    allowed('personality', [persona], `${persona.toString(16)} `),
  ),
  ...[1, 0x10_0000, 0x40_0000, 0x80_0000, 0x20_0000, 0x44_0000].map((persona) =>
    refused('personality', [persona], EPERM, `${persona.toString(16)} `),
  ),
  ...[0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000].flatMap((flag) => [
    refused('clone', [flag | 17, 0], EPERM, `with the namespace ${flag.toString(16)} `),
    refused('unshare', [flag], EPERM, `of the namespace ${flag.toString(16)} `),
  ]),
  refused('unshare', [0x80], EPERM, 'of the time namespace '),
  allowed('unshare', [0x400], 'of the descriptor table '),
  allowed('clone', [17, 0], 'without new namespaces '),
  refused('ioctl', [0, 0x5412, 0], EPERM, 'to type into a terminal '),
  refused('ioctl', [0, 0x1_0000_5412n, 0], EPERM, 'to type into a terminal, with a high bit set, '),
  refused('ioctl', [0, 0x541c, 0], EPERM, 'to paste into a console '),
  allowed('ioctl', [0, 0x5413, 0], 'to ask for a window size '),
  refused('fcntl', [-1, 1024, 1], EPERM, 'to lease a file '),
  allowed('fcntl', [-1, 1033, 0], 'to ask for the seals of a file '),
  refused('chmod', [noFile, 0o4755], EPERM, 'to set-user-id '),
  refused('fchmod', [-1, 0o2755], EPERM, 'to set-group-id '),
  refused('fchmodat', [-100, noFile, 0o4755], EPERM, 'to set-user-id '),
  refused('fchmodat2', [-100, noFile, 0o4755, 0], EPERM, 'to set-user-id '),
  refused('creat', [noFile, 0o4755], EPERM, 'of a set-user-id file '),
  refused('open', [noFile, 0o101, 0o4755], EPERM, 'making a set-user-id file '),
  refused('openat', [-100, noFile, 0o101, 0o4755], EPERM, 'making a set-user-id file '),
  refused('openat', [-100, noFile, 0o2020_0002, 0o6755], EPERM, 'making a nameless set-user-id file '),
  refused('mknod', [noFile, 0o104755, 0], EPERM, 'of a set-user-id file '),
  refused('mknodat', [-100, noFile, 0o104755, 0], EPERM, 'of a set-user-id file '),
  allowed('openat', [-100, noFile, 0, 0o4755], 'without O_CREAT or O_TMPFILE, whatever its mode, '),
  allowed('fchmodat', [-100, noFile, 0o755], 'to an ordinary mode '),
  refused('socketpair', [1, 2, 0, 0], EPERM, 'of unix datagrams '),
  refused('socketpair', [1, 2 | 0o2000000, 0, 0], EPERM, 'of unix datagrams, closed on exec, '),
  refused('socketpair', [1, 3, 0, 0], EPERM, 'of unix datagrams by their other name, SOCK_RAW, '),
  refused('socketpair', [1, 0, 0, 0], EPERM, 'of an unknown type '),
  refused('socketpair', [2, 1, 0, 0], EPERM, 'of anything but unix '),
  allowed('socketpair', [1, 1, 0, Buffer.alloc(8)], 'of unix streams '),
  allowed('socketpair', [1, 5 | 0o2000000, 0, Buffer.alloc(8)], 'of unix packets '),
  ...[1, 16, 17, 38, 40, 31].map((family) =>
    refused('socket', [family, family === 16 ? 3 : 1, family === 16 ? 15 : 0], EPERM, `of family ${family} `),
  ),
]

const sockets: Readonly<Record<SocketAccess, readonly Case[]>> = {
  loopback: [
    ...[2, 10].flatMap((family) => [
      ...[0, 17].map((protocol) =>
        allowed('socket', [family, 2, protocol], `of family ${family}, protocol ${protocol} `),
      ),
      ...[1, 58, 132, 255].map((protocol) =>
        refused('socket', [family, 3, protocol], EPERM, `of family ${family}, protocol ${protocol} `),
      ),
    ]),
    allowed('socket', [16, 2, 0], 'of family 16 for the list of interfaces'),
    refused('socket', [16, 2, 4], EPERM, 'of family 16 for anything else'),
  ],
  internet: [2, 10, 16].map((family) => allowed('socket', [family, 2, 0], `of family ${family} `)),
}

describe.each(['loopback', 'internet'] as const)('with sockets: %s', (access) => {
  const cases = [...always, ...sockets[access]]

  describe.each(['x64', 'arm64'] as const)('the %s program', (architecture: Architecture) => {
    const program = compileFilter(filterRules(access), architecture)
    const judge = (number: number, args: readonly Argument[] = []): Verdict =>
      interpret(program, {
        number,
        architecture: audit[architecture],
        arguments: args.map((value) => (value instanceof Uint8Array ? 0x400000n : BigInt.asUintN(64, BigInt(value)))),
      })

    test.each(cases)('$claim', ({ syscall, args, refused }) => {
      const number = syscallNumber(syscall, architecture)
      if (number === undefined) return
      expect(judge(number, args)).toEqual(refused === undefined ? 'allow' : { errno: refused })
    })

    test('a call through another architecture ends the process', () => {
      const other = architecture === 'x64' ? 0x40000003 : 0x40000028
      expect(interpret(program, { number: 0, architecture: other })).toBe('kill')
    })

    test('every call without a rule gets what the table says, and every number without a row seems not to exist', () => {
      const ruled = new Set(filterRules(access).map(({ syscall }) => syscallNumber(syscall, architecture)))
      const rows = new Map(syscallsOf(architecture).map((name) => [syscallNumber(name, architecture), rulingOf(name)]))
      for (let number = 0; number < 600; number += 1) {
        if (!ruled.has(number)) expect([number, judge(number)]).toEqual([number, rows.get(number) ?? { errno: ENOSYS }])
      }
      for (const number of [600, 1000, 0x3fff_ffff]) expect(judge(number)).toEqual({ errno: ENOSYS })
    })
  })

  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  testInBubblewrap('the kernel agrees when each call is really made', async () => {
    const workspace = await temporaryDirectory()
    const network: Record<SocketAccess, SandboxPolicyInput['network']> = {
      loopback: { mode: 'off' },
      internet: { mode: 'full' },
    }
    const sandbox = await openFor({ mode: 'workspace-write', workspace, network: network[access] })
    const here = cases.flatMap((each) => {
      const number = syscallNumber(each.syscall, architecture)
      return number === undefined ? [] : [{ ...each, number }]
    })
    await Promise.all(
      here.map(({ number, args }, index) =>
        writeFile(join(workspace, `p${index}`), callingProgram(architecture, number, args), { mode: 0o755 }),
      ),
    )
    const { stdout } = await run(sandbox, here.map((_, index) => `./p${index}; echo $?`).join('\n'))
    const got = stdout.trim().split('\n').map(Number)
    const told = here.map(({ claim, refused }, index) => ({
      claim,
      error: refused === undefined && got[index] !== EPERM && got[index] !== ENOSYS ? 'some other' : got[index],
    }))
    expect(told).toEqual(here.map(({ claim, refused }) => ({ claim, error: refused ?? 'some other' })))
  })
})

const header = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
} as const
describe.each(['x64', 'arm64'] as const)('the numbers of %s', (architecture: Architecture) => {
  const noHeader = existsSync(header[architecture])
    ? undefined
    : `the kernel's header ${header[architecture]} is missing`
  testUnless(noHeader)("are those of the kernel's header, which has no call without a row", () => {
    const known = new Map<number, string>()
    const definitions = readFileSync(header[architecture], 'utf8').matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm)
    for (const [, name = '', number] of definitions) {
      // The last row of the header is the count of calls.
      if (name !== 'syscalls') known.set(Number(number), name === 'fstatat' ? 'newfstatat' : name)
    }
    const own = syscallsOf(architecture).map((name) => [syscallNumber(name, architecture), name])
    expect(own.filter(([number, name]) => known.has(Number(number)) && known.get(Number(number)) !== name)).toEqual([])
    const numbers = new Set(own.map(([number]) => number))
    // The calls of 32-bit processors with 64-bit times have names of their own.
    const others = /_time64$|^(?:clock|timer|timerfd)_.*64$|^arch_specific_syscall$|^sync_file_range2$/
    expect([...known].filter(([number, name]) => !numbers.has(number) && !others.test(name))).toEqual([])
  })
})

const otherProcessor = process.arch === 'x64' ? undefined : 'these interfaces are those of an x64 processor'
const testOnX64 = testUnless(otherProcessor, testInBubblewrap)
testOnX64('the 32-bit and x32 interfaces are closed', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  // This calls getpid by its x32 number.
  await writeFile(join(workspace, 'x32'), callingProgram('x64', 0x4000_0000 + 39, []), { mode: 0o755 })
  expect(codeOf(await run(sandbox, './x32'))).toBe(ENOSYS)
  const program = Buffer.from(callingProgram('x64', 39, []))
  // The first `syscall` instruction is replaced by `int 0x80`.
  program[program.indexOf('0f05', 0, 'hex')] = 0xcd
  program[program.indexOf('cd05', 0, 'hex') + 1] = 0x80
  await writeFile(join(workspace, 'int80'), program, { mode: 0o755 })
  // The filter ends it by SIGSYS. Where the kernel itself has no such interface, it gets SIGSEGV, also outside the sandbox.
  const outside = spawnSync(join(workspace, 'int80')).signal === 'SIGSEGV' ? 11 : 31
  expect(codeOf(await run(sandbox, './int80'))).toBe(128 + outside)
})

test('the tiny programs do make the calls: outside the sandbox they get other results', async () => {
  const directory = await temporaryDirectory()
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  const file = join(directory, 'probe')
  const EBADF = 9
  await writeFile(file, callingProgram(architecture, syscallNumber('setns', architecture) ?? 0, [-1, 0]), {
    mode: 0o755,
  })
  expect(spawnSync(file).status).toBe(EBADF)
})
