import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { Duplex, Readable, Writable } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { bubblewrapArguments, helperInside } from '../../sandbox/bubblewrap/arguments.ts'
import { lookAtHost, mountSteps } from '../../sandbox/bubblewrap/mount-steps.ts'
import { encodeStart } from '../../sandbox/bubblewrap/start-plan.ts'
import { goAhead, withoutMark } from '../../sandbox/bubblewrap/start-report.ts'
import { hostFileSystem } from '../../sandbox/file-system-view.ts'
import { noFence, type Fence } from '../../sandbox/helper/fence.ts'
import { helperFor } from '../../sandbox/helper/helper.ts'
import { mountFlags, type Step } from '../../sandbox/helper/steps.ts'
import { parsePolicy } from '../../sandbox/index.ts'
import type { Mount } from '../../sandbox/mount.ts'
import { planMounts } from '../../sandbox/mounts.ts'
import { planFence } from '../../sandbox/plan-fence.ts'
import { landlockHere } from '../support/landlock.ts'
import { testUnless } from '../support/needs.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

const test = testUnless(
  landlockHere() < 3 ? 'this kernel has no Landlock of version 3 or newer' : undefined,
  testInBubblewrap,
)

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

/** A workspace, and directories and a file outside of it, in a directory that commands see. */
type Tree = Readonly<
  Record<'base' | 'workspace' | 'outside' | 'readable' | 'denied' | 'elsewhere' | 'file' | 'temp' | 'empty', string>
>

function makeTree(): Tree {
  // Not in the temporary directory, because commands don't see that.
  const base = realpathSync(mkdtempSync('/var/tmp/portcullis-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const names = ['workspace', 'outside', 'readable', 'denied', 'elsewhere', 'temp', 'empty'] as const
  const made = Object.fromEntries(names.map((name) => [name, join(base, name)])) as Record<
    (typeof names)[number],
    string
  >
  for (const directory of Object.values(made)) mkdirSync(directory)
  for (const name of ['outside', 'readable', 'denied'] as const) writeFileSync(join(made[name], 'kept'), 'old')
  writeFileSync(join(base, 'file'), 'old')
  return { ...made, base, file: join(base, 'file') }
}

/** A mistake in the plan of mounts, and the path at which the mistake would let a command write. */
type Fault = {
  readonly claim: string
  readonly mounts?: (planned: readonly Mount[], tree: Tree) => readonly Mount[]
  readonly steps?: (planned: readonly Step[], tree: Tree) => readonly Step[]
  readonly target: (tree: Tree) => string
}

const add = (mount: (tree: Tree) => Mount) => (planned: readonly Mount[], tree: Tree) =>
  [...planned.filter(({ path }) => path !== mount(tree).path), mount(tree)].toSorted(
    (a, b) => a.path.length - b.path.length,
  )

const faults: readonly Fault[] = [
  {
    claim: 'a directory outside is mounted writable',
    mounts: add(({ outside }) => ({ path: outside, as: 'writable' })),
    target: ({ outside }) => outside,
  },
  {
    claim: 'the directory above the workspace is mounted writable',
    mounts: add(({ base }) => ({ path: base, as: 'writable' })),
    target: ({ outside }) => outside,
  },
  {
    claim: 'the whole file system is planned as writable',
    mounts: add(() => ({ path: '/', as: 'writable' })),
    target: ({ outside }) => outside,
  },
  {
    claim: 'a file outside is mounted writable',
    mounts: add(({ file }) => ({ path: file, as: 'writable' })),
    target: ({ file }) => file,
  },
  {
    claim: 'a readable root is mounted writable',
    mounts: add(({ readable }) => ({ path: readable, as: 'writable' })),
    target: ({ readable }) => readable,
  },
  {
    claim: 'a denied directory is mounted writable',
    mounts: add(({ denied }) => ({ path: denied, as: 'writable' })),
    target: ({ denied }) => denied,
  },
  {
    claim: 'a directory outside is mounted in place of the workspace',
    mounts: add(({ workspace, outside }) => ({ path: workspace, source: outside, as: 'writable' })),
    target: ({ workspace }) => workspace,
  },
  {
    claim: 'a directory outside is mounted in place of the private /tmp',
    mounts: add(({ outside }) => ({ path: '/tmp', source: outside, as: 'writable' })),
    target: () => '/tmp',
  },
  {
    claim: 'a directory outside is mounted writable at another path',
    mounts: add(({ elsewhere, outside }) => ({ path: elsewhere, source: outside, as: 'writable' })),
    target: ({ elsewhere }) => elsewhere,
  },
  {
    claim: 'the step that makes the file system read-only is missing',
    steps: (planned) => planned.filter((step) => step.do !== 'change' || step.path !== '/'),
    target: ({ outside }) => outside,
  },
  {
    claim: 'a mount loses its flag again',
    steps: (planned, { outside }) => [
      ...planned,
      { do: 'mount', what: 'itself', path: outside, change: { clear: mountFlags.readOnly } },
    ],
    target: ({ outside }) => outside,
  },
]

type Pipes = readonly [Readable, Readable, Duplex, Writable, Writable]

/** Starts a shell script behind the mounts of a plan with a fault. Returns its output and the report of a failed start. */
async function runWith(fault: Fault, tree: Tree, isFenced: boolean, script: string, before: readonly string[] = []) {
  const { workspace, readable, denied, temp, empty, base } = tree
  const policy = parsePolicy({
    mode: 'workspace-write',
    workspace,
    readableRoots: [readable],
    deniedReads: [denied],
    protectedPaths: [],
  })
  const git = { mounts: [], nested: [], hidden: [], configs: [], replaced: [] }
  const places = { gitDirectories: [], gitLinks: [], repositories: [], protectedPaths: [], git }
  const planned = planMounts(policy, places, hostFileSystem)
  const steps = mountSteps(fault.mounts?.(planned, tree) ?? planned, {
    privateTemp: temp,
    emptyDirectory: empty,
    runDirectories: () => [],
    look: (path) => lookAtHost(path),
  })
  const fence: Fence = isFenced
    ? planFence(policy, { held: { identityOf: () => undefined }, run: { path: base, temp } }, [], hostFileSystem)
    : noFence
  const plan = encodeStart(architecture, {
    steps: fault.steps?.(steps, tree) ?? steps,
    kept: [],
    identity: { uid: 1000, gid: 1000 },
    watches: undefined,
    lowPorts: false,
    nullInput: true,
    cwd: '/',
    variables: { PATH: process.env['PATH'] ?? '' },
    fence,
    fenceVersion: 0,
    filter: { sockets: 'loopback', unixSockets: false },
  })
  const options = bubblewrapArguments({ network: false, lowPorts: false, uncovered: [], helper: 4 })
  const [program = '', ...words] = [...before, 'bwrap', ...options, '--', helperInside, 'start', '5', '3']
  const child = spawn(program, [...words, '/bin/sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  // The types of more than five streams are not known to `spawn`.
  const [output, errors, control, helper, given] = child.stdio.slice(1) as unknown as Pipes
  for (const [pipe, content] of [
    [helper, helperFor(architecture)],
    [given, plan],
  ] as const) {
    pipe.on('error', () => undefined)
    pipe.end(content)
  }
  // If the start fails, the go-ahead isn't read, which is an error at this end.
  const said: Buffer[] = []
  control.on('error', () => undefined).on('data', (bytes: Buffer) => said.push(bytes))
  control.write(goAhead)
  const [stdout, stderr] = await Promise.all([text(output), text(errors), once(child, 'close')])
  return { stdout, stderr, report: withoutMark(Buffer.concat(said).toString()) }
}

const attempts = (target: string): string => `
  t='${target}'
  if [ -d "$t" ]; then
    (echo new > "$t/made") 2>&- && echo made; mkdir "$t/sub" 2>&- && echo directory; ln -s x "$t/link" 2>&- && echo link
    [ -e "$t/kept" ] && { (echo more >> "$t/kept") 2>&- && echo appended; truncate -s 0 "$t/kept" 2>&- && echo cut
      mv "$t/kept" "$t/moved" 2>&- && echo moved; rm -f "$t/moved" "$t/kept" 2>&- && ! [ -e "$t/kept" ] && echo removed; }
  else
    (echo more >> "$t") 2>&- && echo appended; truncate -s 0 "$t" 2>&- && echo cut
  fi; exit 0`

/** What commands must not change. */
function state({ base, outside, readable, denied, file }: Tree): unknown {
  const contents = (directory: string) =>
    readdirSync(directory).map((name) => [name, name === 'kept' ? readFileSync(join(directory, name), 'utf8') : ''])
  return {
    base: readdirSync(base),
    trees: [outside, readable, denied].map(contents),
    file: existsSync(file) && readFileSync(file, 'utf8'),
  }
}

test.each(faults)('nothing outside the roots is written although $claim', async (fault) => {
  const tree = makeTree()
  const before = state(tree)
  const fenced = await runWith(fault, tree, true, attempts(fault.target(tree)))
  expect({ stdout: fenced.stdout, state: state(tree) }).toEqual({ stdout: '', state: before })
  // Without the fence, the same writes succeed.
  const control = await runWith(fault, tree, false, attempts(fault.target(tree)))
  expect(control).toMatchObject({ report: '', stdout: expect.stringMatching(/made|appended/) })
  expect(state(tree)).not.toEqual(before)
})

test('without a fault, a command writes to its workspace, its temporary directory and its shared memory', async () => {
  const tree = makeTree()
  const fault: Fault = { claim: 'none', target: () => '/' }
  const script = `cd '${tree.workspace}' && echo a > a && mkdir d && mv a d/ && ln d/a b && ln -s b c && mkfifo p && rm -r d && echo workspace
    mkdir /tmp/d && echo a > /tmp/d/a && echo temporary; echo a > /dev/shm/a && echo shared; echo a > /dev/null && echo null`
  expect(await runWith(fault, tree, true, script)).toEqual({
    stdout: 'workspace\ntemporary\nshared\nnull\n',
    stderr: '',
    report: '',
  })
})

test('a command can open its own output again', async () => {
  const sandbox = await openFor({ mode: 'workspace-write', workspace: await temporaryDirectory() })
  const { stdout, stderr } = await run(sandbox, 'echo output > /dev/stdout; echo error > /dev/stderr')
  expect({ stdout, stderr }).toEqual({ stdout: 'output\n', stderr: 'error\n' })
})

test('a plan that holds more entries than may be open is not taken for a changed tree', async () => {
  const tree = makeTree()
  const held = Array.from({ length: 100 }, (_, index): Step => ({
    do: 'hold',
    as: `held ${index}`,
    path: tree.outside,
  }))
  const fault: Fault = { claim: 'none', steps: (planned) => [...held, ...planned], target: () => '/' }
  const { stdout, report } = await runWith(fault, tree, true, 'echo started', ['/usr/bin/prlimit', '--nofile=64'])
  expect({ stdout, report }).toEqual({ stdout: '', report: `failed ${tree.outside}` })
})
