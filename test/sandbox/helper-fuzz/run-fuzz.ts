import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { encodeStart } from '../../../sandbox/bubblewrap/start-plan.ts'
import { encodeFence } from '../../../sandbox/helper/fence.ts'
import { encodePlan, list } from '../../../sandbox/helper/plan.ts'
import { encodeSteps, type Step } from '../../../sandbox/helper/steps.ts'

/** The parts of the helper, each with a command line and a plan from which libFuzzer makes others. */
const parts = {
  start: input(['6', '7', '/bin/true', 'word'], startPlan()),
  check: input(['/plan', 'mark: ', '/bin/true'], encodePlan([...encodeSteps(expected()), ...encodeFence(fence())])),
  fence: input([]),
  filter: input(['/filter', '/bin/true'], Buffer.alloc(16)),
  init: input([]),
  listen: input(['7', '3128', '5432']),
  enter: input(['/filter', '/', '2', '3128', '5432', '/bin/true'], Buffer.alloc(16)),
  relay: input(['3', '2']),
  terminal: input(['7', '/bin/true']),
  attributes: input(
    [],
    encodePlan(
      list([
        [1, 3, 'a/b'],
        [2, 3, 'a', 'user.name', Buffer.from('value')],
        [3, 3, '', 'user.name'],
        [4, 3, 'a', 1n, 999_999_999],
      ]),
    ),
  ),
} as const

/** The input of `fuzz.c`. */
function input(words: readonly string[], plan: Buffer = Buffer.alloc(0)): Buffer {
  const size = Buffer.from([plan.length & 0xff, plan.length >> 8])
  // After the plan come the results of system calls. Most are descriptors.
  return Buffer.concat([
    Buffer.of(words.length),
    Buffer.from(words.map((word) => `${word}\0`).join('')),
    size,
    plan,
    Buffer.alloc(200, 70),
  ])
}

function fence() {
  return { handled: 0x7ff2, scoped: 3, roots: [{ path: '/tmp', accesses: 0x7ff2 }] }
}

function expected(): readonly Step[] {
  return [{ do: 'expect', path: '/tmp', readOnly: true, identity: { device: 1n, inode: 2n } }]
}

function startPlan(): Buffer {
  return encodeStart('x64', {
    kept: [8],
    identity: { uid: 1, gid: 1 },
    watches: { instances: 1, watches: 1 },
    lowPorts: true,
    nullInput: true,
    cwd: '/tmp',
    variables: { NAME: 'value' },
    steps: [
      { do: 'hold', as: 'held', path: '/a', identity: { device: 1n, inode: 2n } },
      { do: 'take', as: 'taken', path: '/b/c' },
      { do: 'hold', as: 'cache', path: '/h' },
      { do: 'cover', held: 'cache', path: '/i/j' },
      { do: 'mount', what: { held: 'held' }, path: '/d/e', create: 'directory', change: { set: 1, recursive: true } },
      { do: 'mount', what: { taken: 'taken' }, path: '/f', create: 'file' },
      { do: 'mount', what: { taken: 'cache' }, path: '/h' },
      { do: 'mount', what: 'shared-memory', path: '/dev/shm', create: 'nothing' },
      { do: 'mount', what: 'memory', path: '/g' },
      { do: 'change', path: '/', change: { set: 1, recursive: true } },
    ],
    fence: fence(),
    fenceVersion: 1,
    filter: { sockets: 'loopback', unixSockets: false },
  })
}

/** What clang looks for: one kind can't be combined with the other. The second finds memory that is given to the kernel without ever having been set. */
const sanitizers = { addresses: 'address,undefined', memory: 'memory' } as const

/**
 * Builds the helper with each kind of sanitizers and with a kernel that the input makes up (`fuzz.c`), and runs each of its parts on `runs` inputs, of
 * which the second kind gets a tenth. Calls `tell` with the name of each part, the number of inputs and what was found.
 */
export function fuzzHelper(
  runs: number,
  tell: (kind: string, part: string, runs: number, failures: readonly string[]) => void,
): void {
  const directory = mkdtempSync(join(tmpdir(), 'helper-fuzz-'))
  try {
    for (const [kind, sanitizer] of Object.entries(sanitizers)) {
      const program = join(directory, kind)
      buildFuzzer(program, sanitizer)
      for (const [part, seed] of Object.entries(parts)) {
        const corpus = join(directory, part)
        mkdirSync(corpus, { recursive: true })
        writeFileSync(join(corpus, 'seed'), seed)
        const some = kind === 'memory' ? Math.ceil(runs / 10) : runs
        const { status, stderr } = spawnSync(program, [`-runs=${some}`, '-max_len=4096', '-verbosity=0', corpus], {
          cwd: directory,
          env: { ...process.env, PART: part },
          encoding: 'utf8',
          maxBuffer: Number.POSITIVE_INFINITY,
        })
        tell(kind, part, some, status === 0 ? [] : [stderr.slice(-4000)])
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function buildFuzzer(program: string, sanitizer: string): void {
  const options = ['-std=gnu11', '-g', '-O1', '-ffreestanding', '-Wall', '-Wextra', '-Werror']
  const checks = [`-fsanitize=fuzzer,${sanitizer}`, '-fno-sanitize-recover=undefined']
  const source = new URL('fuzz.c', import.meta.url).pathname
  const { status, error, stderr } = spawnSync('clang', [...options, ...checks, '-o', program, source], {
    encoding: 'utf8',
  })
  if (status === 0) return
  const packages = 'clang libclang-rt-dev'
  throw new Error(`the helper can't be built for fuzzing (Debian's packages: ${packages}): ${error?.message ?? stderr}`)
}
