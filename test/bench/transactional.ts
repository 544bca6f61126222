import { execFileSync, spawn } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { call, say as answer, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { thisBuild } from './old-build.ts'
import type { BenchRow } from './row.ts'

const runs = 3

/** What `--transactional` costs: at the start, in commands, and at the end. It takes minutes, so it says what it is at. */
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

/** A repository of so many files, all of them committed, in twenty directories. There are few contents, so that git has few objects to write. */
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

/** How long a run takes to its first request, beside one without the flag; and what `cp -a` takes, for a copy. */
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
    ours.push((await runAgent(tree, base, [`--transactional=${strategy}`, '--land', 'never'], [])).firstRequestMs)
    const to = join(base, `copy-${round}`)
    const began = performance.now()
    if (strategy === 'copy') execFileSync('cp', ['-a', tree, to])
    copies.push(performance.now() - began)
    await rm(to, { recursive: true, force: true })
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

/** Each does its work often enough to be told from the start of its sandbox, which is in its time. */
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

/** Commands on a view, beside the same on the tree itself. */
async function commands(tree: string, base: string): Promise<readonly BenchRow[]> {
  const steps = commandLines.map(([, line]): Reply => [call('exec_command', { cmd: line })])
  const times = async (args: readonly string[]): Promise<readonly (readonly number[])[]> => {
    const found: (readonly number[])[] = []
    for (let round = 0; round <= runs; round++) {
      const fresh = join(base, `tree-${round}`)
      execFileSync('cp', ['-a', tree, fresh])
      execFileSync('git', ['status', '--porcelain'], { cwd: fresh })
      found.push((await runAgent(fresh, base, args, steps)).durationsMs)
      await rm(fresh, { recursive: true, force: true })
    }
    return found
  }
  say('commands without the flag')
  const plain = await times([])
  const rows: BenchRow[] = []
  for (const strategy of ['copy', 'overlay'] as const) {
    say(`commands, ${strategy}`)
    const ours = await times([`--transactional=${strategy}`, '--land', 'never'])
    for (const [index, [name]] of commandLines.entries()) {
      const at = (all: readonly (readonly number[])[]): number => median(all.map((each) => each[index] ?? 0))
      rows.push({
        name: `${name}, ${strategy}`,
        ours: { wallMs: at(ours) },
        peer: { wallMs: at(plain) },
        note: 'peer: without the flag',
      })
    }
  }
  return rows
}

/** From the model's last answer to the end of the program, with a thousand files to land and with none. */
async function landings(base: string): Promise<readonly BenchRow[]> {
  const tree = await makeTree(join(base, 'landing'), 10)
  const rows: BenchRow[] = []
  for (const strategy of ['copy', 'overlay'] as const) {
    say(`landings, ${strategy}`)
    const end = async (line: string): Promise<number> => {
      const found: number[] = []
      for (let round = 0; round <= runs; round++) {
        await rm(join(tree, 'many'), { recursive: true, force: true })
        found.push(
          (await runAgent(tree, base, [`--transactional=${strategy}`], [[call('exec_command', { cmd: line })]])).endMs,
        )
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

type Timed = { readonly firstRequestMs: number; readonly endMs: number; readonly durationsMs: readonly number[] }

async function runAgent(cwd: string, base: string, args: readonly string[], steps: readonly Reply[]): Promise<Timed> {
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
    const child = spawn(process.execPath, [agent, 'exec', '--json', ...model, ...args, 'go'], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, OPENAI_API_KEY: 'sk-x' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    await new Promise((resolve) => child.on('close', resolve))
    const endMs = performance.now() - last
    const durationsMs = [
      ...stdout.matchAll(/"type":"item.completed".*?"type":"command_execution".*?"duration_ms":(\d+)/g),
    ].map(([, ms]) => Number(ms))
    return { firstRequestMs: first - began, endMs, durationsMs }
  } finally {
    await mock.close()
    await rm(home, { recursive: true, force: true })
  }
}

/** But for the first, which warms up. */
function median(values: readonly number[]): number {
  const sorted = values.slice(1).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
