import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Cost } from './row.ts'

/** What to measure: a program, or a function that is called in this process. */
export type Measured = MeasuredProgram | MeasuredAct

type InDirectory = {
  /**
   * Creates and returns the directory of one run. Each run has its own, created before the first run, so that nothing has to be deleted between runs,
   * which would slow down the next one.
   */
  readonly directory: () => Promise<string>
}

/** A function that is called once for each run. Its memory can't be distinguished from that of the benchmark. */
export type MeasuredAct = InDirectory & { readonly act: (directory: string) => Promise<unknown> }

/** A program to run. Its output is discarded, and it must end with `exitCode`. */
export type MeasuredProgram = InDirectory & {
  readonly argv: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: Uint8Array
  /** The exit code that the program must return. Default: 0. */
  readonly exitCode?: number
}

// Only GNU time reports the CPU time and peak memory of a child. Without it, only wall time is measured.
const gnuTime = existsSync('/usr/bin/time') ? '/usr/bin/time' : undefined

/** Runs the programs alternately, `runs` times each after one warm-up, and returns each program's median cost. */
export async function measureInTurns(programs: readonly Measured[], runs: number): Promise<readonly Cost[]> {
  const rounds: string[][] = []
  for (let round = 0; round <= runs; round++) {
    const directories: string[] = []
    for (const program of programs) directories.push(await program.directory())
    rounds.push(directories)
  }
  const costs: Cost[][] = programs.map(() => [])
  for (const [round, directories] of rounds.entries()) {
    for (const [index, program] of programs.entries()) {
      const cost = await measureOnce(program, directories[index] ?? '/')
      if (round > 0) costs[index]?.push(cost)
    }
  }
  return costs.map(medians)
}

/** Measures a single run without a warm-up, which is enough for programs that run for a long time. */
export async function measureOnce(program: Measured, cwd: string): Promise<Cost> {
  if ('act' in program) return measureAct(program, cwd)
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const report = join(directory, 'time')
  const timed = [gnuTime ?? '', '-o', report, '-f', '%U %S %M', ...program.argv]
  const [command = '', ...words] = gnuTime === undefined ? program.argv : timed
  try {
    const started = performance.now()
    const { code, stderr } = await runToEnd(command, words, cwd, program)
    const wallMs = performance.now() - started
    if (code !== (program.exitCode ?? 0)) throw new Error(`${program.argv.join(' ')} ended with ${code}: ${stderr}`)
    if (gnuTime === undefined) return { wallMs }
    // If the program failed, GNU time prints a line about its exit code before the figures.
    const figures = (await readFile(report, 'utf8')).trim().split('\n').at(-1)?.split(' ').map(Number)
    const [user = 0, system = 0, peak = 0] = figures ?? []
    return { wallMs, cpuMs: (user + system) * 1000, peakMiB: peak / 1024 }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function measureAct({ act }: MeasuredAct, directory: string): Promise<Cost> {
  const before = process.cpuUsage()
  const started = performance.now()
  await act(directory)
  const wallMs = performance.now() - started
  const { user, system } = process.cpuUsage(before)
  return { wallMs, cpuMs: (user + system) / 1000 }
}

function runToEnd(
  command: string,
  words: readonly string[],
  cwd: string,
  program: MeasuredProgram,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(command, words, {
    cwd,
    env: { ...process.env, ...program.env },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A program that refuses early doesn't read its input. This error is ignored, because the exit code is checked anyway.
  child.stdin.on('error', () => undefined)
  child.stdin.end(program.stdin)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stderr }))
  })
}

/** The median of each figure. */
function medians(costs: readonly Cost[]): Cost {
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  const all = (key: keyof Cost): readonly number[] => costs.flatMap((cost) => cost[key] ?? [])
  return {
    wallMs: median(all('wallMs')),
    ...(all('cpuMs').length === 0 ? {} : { cpuMs: median(all('cpuMs')) }),
    ...(all('peakMiB').length === 0 ? {} : { peakMiB: median(all('peakMiB')) }),
  }
}
