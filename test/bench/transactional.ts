import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { call, say as answer, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { eventsOf } from '../support/agent.ts'
import { thisBuild } from './old-build.ts'
import type { BenchRow } from './row.ts'

const runs = 3

/**
 * Measures the cost of `--transactional`: at the start, in commands, and at the end. The benchmark takes minutes, so it reports its progress.
 *
 * Nothing is removed before the end: ext4 doesn't reuse a removed file's inode for minutes, and checks each such inode whenever a file is created.
 * After the removal of 5,000 files, `cp -r` of a thousand took ten times as long, on whichever tree came next.
 */
export async function transactionalBench(): Promise<readonly BenchRow[]> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  try {
    say('a tree of 5,000 files')
    const small = await makeTree(join(base, 'small'), 5000)
    const rows = [
      ...(await starts(small, 'copy', '5,000 files', base)),
      ...(await starts(small, 'overlay', '5,000 files', base)),
      ...(await commands(small, base)),
      ...(await landings(base)),
    ]
    say('a tree of 200,000 files')
    const large = await makeTree(join(base, 'large'), 200_000)
    return [...rows, ...(await starts(large, 'overlay', '200,000 files', base))]
  } finally {
    say('cleaning up')
    await rm(base, { recursive: true, force: true })
  }
}

function say(what: string): void {
  process.stderr.write(`transactional: ${what}\n`)
}

/**
 * Creates a repository with this number of committed files in twenty directories. Many files have the same content, so that git has few objects to
 * write.
 */
async function makeTree(directory: string, files: number): Promise<string> {
  await mkdir(directory, { recursive: true })
  for (let at = 0; at < files; at += 50) {
    const folder = join(directory, `d${(at / 50) % 20}`, `e${at}`)
    await mkdir(folder, { recursive: true })
    const names = Array.from({ length: Math.min(50, files - at) }, (_, index) => join(folder, `f${index}.txt`))
    await Promise.all(names.map((name, index) => writeFile(name, `line of file ${index}\n`.repeat(100))))
  }
  const git = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'gc.auto=0']
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'x'],
  ])
    execFileSync('git', [...git, ...words], { cwd: directory })
  return directory
}

/** Measures how much `--transactional` adds to the time until a run's first request. For a copy, the time of `cp -a` is measured for comparison. */
async function starts(
  tree: string,
  strategy: 'copy' | 'overlay',
  what: string,
  base: string,
): Promise<readonly BenchRow[]> {
  say(`start by ${strategy}, ${what}`)
  const [plain, ours, copies]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round <= runs; round++) {
    plain.push((await runAgent(tree, base, [], [])).firstRequestMs)
    ours.push((await runAgent(tree, base, [`--view=${strategy}`, '--land', 'never'], [])).firstRequestMs)
    const to = join(base, `cp-a-${round}`)
    const began = performance.now()
    if (strategy === 'copy') execFileSync('cp', ['-a', tree, to])
    copies.push(performance.now() - began)
  }
  const added = median(ours) - median(plain)
  const copied = strategy === 'copy' ? { peer: { wallMs: median(copies) } } : {}
  const of = `median of ${runs}; ${Math.round(median(ours))} ms in all, ${Math.round(median(plain))} ms without the flag`
  const peer = strategy === 'copy' ? 'peer: cp -a; ' : ''
  return [
    {
      name: `start by ${strategy}, ${what}`,
      ours: { wallMs: added },
      ...copied,
      note: `${peer}what the flag adds; ${of}`,
    },
  ]
}

/**
 * The commands to measure. Each repeats its work so often that the work takes much longer than the start of the sandbox, which is included in the
 * time.
 */
const commandLines: readonly (readonly [name: string, line: string])[] = [
  ['git status', repeat(10, 'git status --porcelain')],
  ['read all files', repeat(3, 'find . -name .git -prune -o -type f -print0 | xargs -0 cat >/dev/null')],
  [
    'a test run',
    repeat(
      3,
      `${process.execPath} -e "const fs=require('fs');for(const d of ['d0','d1'])for(const e of fs.readdirSync(d))for(const f of fs.readdirSync(d+'/'+e))fs.readFileSync(d+'/'+e+'/'+f)"`,
    ),
  ],
  ['cp -r', 'mkdir copied && cp -r d2 d3 d4 d5 copied'],
  ['rm -rf', 'rm -rf d6 d7 d8 d9'],
]

function repeat(times: number, line: string): string {
  return `for i in $(seq ${times}); do ${line}; done`
}

/**
 * The kinds of trees that commands work on, with the arguments of the run. `bare` is a plain run on an overlay that was mounted by hand. The
 * additional cost of a command on `bare`, compared with `plain`, is the kernel's share.
 */
const kinds = {
  plain: [],
  copy: ['--view=copy', '--land', 'never'],
  overlay: ['--view=overlay', '--land', 'never'],
  bare: [],
} as const
type Kind = keyof typeof kinds

/**
 * A script that mounts an overlay over the directory `tree`, with the same options as our own overlays, and starts a program in that directory. To
 * the program, it looks like any other directory.
 */
const bareOverlay = [
  'cd "$1" && mkdir upper work',
  'mount -t overlay overlay -o lowerdir=tree,upperdir=upper,workdir=work,userxattr tree',
  'cd "$1/tree" && shift && exec "$@"',
].join(' && ')

/** Measures the commands on all kinds of trees. In each round, they run once on each kind. */
async function commands(tree: string, base: string): Promise<readonly BenchRow[]> {
  const steps = commandLines.map(([, line]): Reply => [call('exec_command', { cmd: `( ${line} ); times` })])
  const found: Record<Kind, Command[][]> = { plain: [], copy: [], overlay: [], bare: [] }
  for (let round = 0; round <= runs; round++) {
    say(`commands, round ${round} of ${runs}`)
    for (const kind of ['plain', 'copy', 'overlay', 'bare'] as const) {
      const directory = join(base, `${kind}-${round}`)
      await mkdir(directory)
      const fresh = join(directory, 'tree')
      execFileSync('cp', ['-a', tree, fresh])
      execFileSync('git', ['status', '--porcelain'], { cwd: fresh })
      const startedBy = kind === 'bare' ? overlayBy(directory) : []
      found[kind].push([...(await runAgent(fresh, directory, kinds[kind], steps, startedBy)).commands])
    }
  }
  return commandLines.flatMap(([name], index) => {
    const at = (kind: Kind): BenchRow['ours'] => {
      const each = found[kind].map((round) => round[index])
      return {
        wallMs: median(each.map((one) => one?.wallMs ?? NaN)),
        cpuMs: median(each.map((one) => one?.cpuMs ?? NaN)),
      }
    }
    const peer = at('plain')
    const note = 'peer: without the flag'
    return [
      { name: `${name}, copy`, ours: at('copy'), peer, note },
      { name: `${name}, overlay`, ours: at('overlay'), peer, note },
      { name: `${name}, overlay mounted by hand`, ours: at('bare'), peer, note },
    ]
  })
}

function overlayBy(directory: string): readonly string[] {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()]
  const unshare = ['unshare', ...(uid === 0 ? [] : ['--user', '--map-root-user']), '--mount']
  const own = uid === 0 ? [] : ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
  return [...unshare, 'sh', '-c', bareOverlay, 'sh', directory, ...own]
}

/** Measures how much landing a thousand files adds to the time between the model's last answer and the end of the program. */
async function landings(base: string): Promise<readonly BenchRow[]> {
  const tree = await makeTree(join(base, 'landing'), 10)
  const rows: BenchRow[] = []
  for (const strategy of ['copy', 'overlay'] as const) {
    say(`landings, ${strategy}`)
    const end = async (line: string): Promise<number> => {
      const found: number[] = []
      for (let round = 0; round <= runs; round++) {
        if (existsSync(join(tree, 'many'))) await rename(join(tree, 'many'), await mkdtemp(join(base, 'landed-')))
        found.push((await runAgent(tree, base, [`--view=${strategy}`], [[call('exec_command', { cmd: line })]])).endMs)
      }
      return median(found)
    }
    const none = await end('true')
    const all = await end('mkdir many; for i in $(seq 1000); do echo $i > many/$i.txt; done')
    rows.push({
      name: `landing 1,000 files, ${strategy}`,
      ours: { wallMs: all - none },
      note: `what they add to the end, ${Math.round(none)} ms`,
    })
  }
  return rows
}

type Command = { readonly wallMs: number; readonly cpuMs: number }
type Timed = { readonly firstRequestMs: number; readonly endMs: number; readonly commands: readonly Command[] }

async function runAgent(
  cwd: string,
  base: string,
  args: readonly string[],
  steps: readonly Reply[],
  startedBy: readonly string[] = [],
): Promise<Timed> {
  const home = await mkdtemp(join(base, 'home-'))
  const began = performance.now()
  let [first, last] = [0, 0]
  const mock = await startMockOpenAI({
    replies: (_, index) => {
      last = performance.now()
      if (index === 0) first = last
      return steps[index] ?? [answer('done')]
    },
  })
  try {
    const agent = join(thisBuild, 'dist/bin/agent.js')
    const model = ['-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`]
    const [program = '', ...words] = [...startedBy, process.execPath, agent, 'exec', '--json', ...model, ...args, 'go']
    const child = spawn(program, words, {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, OPENAI_API_KEY: 'sk-x' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    await new Promise((resolve) => child.on('close', resolve))
    const endMs = performance.now() - last
    return { firstRequestMs: first - began, endMs, commands: commandsIn(stdout) }
  } finally {
    await mock.close()
  }
}

/**
 * Returns the wall time and the processor time of each command of a run. Each command line ends with `times`, which prints the processor time of the
 * shell and of its children.
 */
function commandsIn(stdout: string): readonly Command[] {
  return eventsOf(stdout).flatMap((event) => {
    if (event.type !== 'item.completed' || event.item.type !== 'command_execution') return []
    const [, ...spent] = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(event.item.aggregated_output)?.map(Number) ?? []
    const [minutes = NaN, seconds = NaN, kernelMinutes = NaN, kernelSeconds = NaN] = spent
    const cpuMs = ((minutes + kernelMinutes) * 60 + seconds + kernelSeconds) * 1000
    return [{ wallMs: event.item.duration_ms ?? NaN, cpuMs }]
  })
}

/** The median of all values except the first, which is the warm-up. */
function median(values: readonly number[]): number {
  const sorted = values.slice(1).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
