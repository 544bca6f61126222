import process from 'node:process'
import { expect, test } from 'vitest'
import { ensureImage } from '../docker-image.ts'
import { testInBubblewrap, testInDocker } from '../helpers.ts'
import { runAsOrdinaryUser } from './as-ordinary-user.ts'
import { renderMatrix, type Column } from './matrix.ts'
import { runBattery, type Executed } from './run-battery.ts'

const isRoot = process.geteuid?.() === 0

/**
 * Probes that also fail outside a sandbox, most of them because an ordinary user is not allowed to do what they try, or because there is no sandbox
 * to attack. Outside a sandbox, the failure of such a probe proves nothing.
 */
const alsoBlockedOutside = [
  // For all commands, even unconfined ones, git is configured to accept a bare repository only if it is named explicitly.
  'a bare repository among the files',
  'write through /proc/1/root',
  'write to /etc',
  'make a device or write in /dev',
  'read keys through /proc/1/root',
  'read /etc/shadow',
  'see placeholders: a file that is not there is there',
  'connect over IPv6, and to an outside address',
  'reach the docker daemon',
  'an AF_PACKET socket',
  'a vsock socket',
  'an AF_ALG socket',
  "write to the sandbox's own first process",
  "trace the sandbox's own first process",
  "read the memory of the sandbox's own first process",
  "write to the memory of the sandbox's own first process",
  'leave a process running',
  'be root',
  'open /proc/sys/kernel/core_pattern for writing',
  'open /proc/sys/kernel/hostname for writing',
  'open /proc/sys/vm/drop_caches for writing',
  'open /proc/sys/net/ipv4/ip_forward for writing',
  'write to /sys',
  'mount',
  'unmount',
  'make a device',
  'make a user namespace',
  'make other namespaces',
  'enter a namespace',
  'chroot',
  'chroot by itself',
  'unshare by itself',
  'clone with a user namespace',
  'io_uring',
  'userfaultfd',
  'perf_event_open',
  'bpf',
  'add_key',
  'keyctl',
  'type into a terminal',
  'setns',
  'open_tree',
  'mount by itself',
  'fsopen',
  'open_by_handle_at',
  "read the kernel's log",
  'init_module',
  'name the machine',
  "take another process's descriptor",
  "read the machine's disks and memory",
  'make a device in the workspace',
  'open /proc/sysrq-trigger for writing',
  'a core dump',
]

const main = new URL('main.ts', import.meta.url).pathname

const asOrdinaryUser = async (backend: 'bubblewrap' | 'unconfined'): Promise<readonly Executed[]> =>
  isRoot ? ((await runAsOrdinaryUser(main, [backend])) as readonly Executed[]) : runBattery(backend)

testInBubblewrap(
  'the escape battery: every probe ends as the policy says, as root and as an ordinary user',
  async () => {
    const [own, ordinary] = await Promise.all([
      isRoot ? runBattery('bubblewrap') : Promise.resolve([]),
      asOrdinaryUser('bubblewrap'),
    ])
    const columns: readonly Column[] = [
      ...(isRoot ? [{ title: 'bubblewrap, root,', executed: own }] : []),
      { title: 'bubblewrap, user,', executed: ordinary },
    ]
    process.stdout.write(`\n${renderMatrix(columns)}\n`)
    const wrong = columns.flatMap(({ title, executed }) =>
      executed.filter(({ outcome, expected }) => outcome !== expected).map((each) => ({ title, ...each })),
    )
    expect(wrong).toEqual([])
    expect(ordinary.length).toBeGreaterThan(250)
    expect(ordinary.filter(({ probe }) => probe.startsWith('out of a view: ')).length).toBeGreaterThan(16)
  },
  900_000,
)

testInDocker(
  'the escape battery in docker: every probe ends as the policy says',
  async () => {
    ensureImage()
    const executed = await runBattery('docker')
    process.stdout.write(`\n${renderMatrix([{ title: 'docker,', executed }])}\n`)
    expect(executed.filter(({ outcome, expected }) => outcome !== expected)).toEqual([])
  },
  300_000,
)

test('the control: outside a sandbox the probes succeed', async () => {
  const executed = await asOrdinaryUser('unconfined')
  const blocked = executed.filter(({ outcome }) => outcome === 'blocked').map(({ probe }) => probe)
  expect(blocked.filter((probe) => !alsoBlockedOutside.includes(probe))).toEqual([])
}, 180_000)
