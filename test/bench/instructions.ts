import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loads, writeLoad } from './generate-patch-loads.ts'

/** The instructions of each program, as multiples of those of an empty Node script, which stand for Node's version and for the machine. */
type Ratios = Readonly<Record<string, number>>

const baselineFile = fileURLToPath(new URL('instructions.json', import.meta.url))
const program = (name: string): string => fileURLToPath(new URL(`../../dist/bin/${name}.js`, import.meta.url))

/** How many times the baseline a ratio may be. Two counts of the same program differ by a hundredth at most. */
const mostGrowth = 1.15
/** With other threads, counts would differ from run to run. V8 takes no stored code under these options, so the compilation of what runs is counted too. */
const repeatable = ['--predictable', '--single-threaded']

/**
 * Counts the instructions of short runs with valgrind, which a busy machine doesn't change, and compares them with the checked-in baseline, or records a
 * new one. Programs that these start aren't counted.
 *
 * @returns the exit code: 1 if a program needs more than `mostGrowth` times as many instructions as in the baseline
 */
export async function compareInstructions(isRecording: boolean): Promise<number> {
  const why = whyNotCounted()
  if (why !== undefined) {
    process.stdout.write(`skipped: ${why}\n`)
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-bench-'))
  try {
    const found = await countAll(folder)
    if (isRecording) {
      writeFileSync(baselineFile, `${JSON.stringify(found, undefined, 2)}\n`)
      process.stdout.write(`recorded in ${baselineFile}\n`)
      return 0
    }
    return compare(found, JSON.parse(readFileSync(baselineFile, 'utf8')) as Ratios)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function whyNotCounted(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'instructions are counted only on Linux x64'
  const argv = ['--tool=none', process.execPath, ...repeatable, '--eval', '0']
  const { error, status, stderr } = spawnSync('valgrind', argv, { encoding: 'utf8' })
  if (error !== undefined) return 'valgrind is not installed (apt install valgrind)'
  return status === 0 ? undefined : `valgrind can't run Node here: ${stderr.trim().split('\n').at(-1)}`
}

function compare(found: Ratios, baseline: Ratios): number {
  let code = 0
  for (const [name, ratio] of Object.entries(found)) {
    const before = baseline[name] ?? Number.NaN
    const isFine = ratio <= before * mostGrowth
    if (!isFine) code = 1
    const line = `${name}: ${ratio} x an empty script (baseline ${before}, at most ${(before * mostGrowth).toFixed(2)})`
    process.stdout.write(`${isFine ? '' : 'TOO MANY  '}${line}\n`)
  }
  if (code !== 0) {
    const next =
      'find out what they do, or record a new baseline if it is worth it: npm run bench -- --instructions --record'
    process.stderr.write(`bench: more instructions than in test/bench/instructions.json; ${next}\n`)
  }
  return code
}

async function countAll(folder: string): Promise<Ratios> {
  const empty = join(folder, 'empty.mjs')
  writeFileSync(empty, '')
  const one = loads['a']?.make()
  const thousand = loads['b']?.make()
  if (one === undefined || thousand === undefined) throw new Error('the loads a and b are gone')
  const updates = thousand.patch.split(/^(?=\*\*\* Update File: )/m).slice(0, 100)
  writeLoad(join(folder, 'one'), one)
  writeLoad(join(folder, 'hundred'), { files: thousand.files.slice(0, 100), patch: updates.join('') })
  const runs: Readonly<Record<string, readonly [argv: readonly string[], load?: string]>> = {
    'an empty script': [[empty]],
    'apply-patch, one chunk': [[program('apply-patch')], 'one'],
    'apply-patch, 100 files': [[program('apply-patch')], 'hundred'],
    'agent policy check': [[program('agent'), 'policy', 'check', '--', 'git', 'status']],
  }
  const counts = await Promise.all(
    Object.values(runs).map(([argv, load], index) =>
      countIn(join(folder, `${index}`), argv, load && join(folder, load)),
    ),
  )
  const [ofEmpty = Number.NaN] = counts
  const ratios = Object.keys(runs).map((name, index) => [name, Number(((counts[index] ?? 0) / ofEmpty).toFixed(3))])
  return Object.fromEntries(ratios.slice(1)) as Ratios
}

/** The instructions of a program's second run in a new home directory; the first one prepares what is kept for later runs. */
async function countIn(home: string, argv: readonly string[], load: string | undefined): Promise<number> {
  mkdirSync(home)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home }
  const inTree = (name: string): string => {
    const tree = join(home, name)
    if (load === undefined) mkdirSync(tree)
    else cpSync(join(load, 'tree'), tree, { recursive: true })
    return tree
  }
  const input = load === undefined ? '' : readFileSync(join(load, 'patch'))
  execFileSync(process.execPath, argv, { cwd: inTree('first'), env, input, stdio: 'pipe' })
  const words = ['--tool=callgrind', '--callgrind-out-file=/dev/null', process.execPath, ...repeatable, ...argv]
  const counting = promisify(execFile)('valgrind', words, { cwd: inTree('second'), env, maxBuffer: 1 << 26 })
  counting.child.stdin?.end(input)
  const { stderr } = await counting
  const count = /Collected\s*:\s*(\d+)/.exec(stderr)?.[1]
  if (count === undefined) throw new Error(`valgrind counted nothing: ${stderr.slice(-500)}`)
  return Number(count)
}
