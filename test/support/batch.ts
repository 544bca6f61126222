import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { agent, type AgentOptions, type Ended } from './agent.ts'
import { tempDir } from './temp-dir.ts'

/** Creates a repository with these files in one commit. Returns its path. */
export function committed(files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }): string {
  const directory = tempDir(files)
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
  }
  git('init', '--quiet', '-b', 'main')
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
  return directory
}

/** Writes a recording in which the model runs these commands, one after the other, and then ends. Returns the name of the model that plays it. */
export function recordingOf(...commands: readonly string[]): string {
  const usage = { input_tokens: 1000, output_tokens: 0 }
  const calls = commands.map((cmd) => ({
    events: [{ type: 'tool_call', name: 'exec_command', arguments: { cmd, yield_time_ms: 60_000 } }],
    usage,
  }))
  const lines = [{ portcullis_replay: 1 }, ...calls, { events: [{ type: 'message', text: 'Done.' }], usage }]
  const folder = tempDir({ 'recording.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') })
  return `replay:${join(folder, 'recording.jsonl')}`
}

/** A place to run batches in: a folder that contains the batches' input files, and a home directory. */
export type BatchPlace = {
  readonly folder: string
  readonly out: string
  readonly run: (words: readonly string[], options?: Partial<AgentOptions>) => Promise<Ended>
  /** The values of a JSON Lines file in the batch's folder. */
  readonly lines: (name: string) => readonly Record<string, unknown>[]
  readonly json: (name: string) => Record<string, unknown>
}

/**
 * Creates a place to run batches in.
 *
 * @param env variables for the processes that `run` starts, unless its options contain `env`
 */
export function batchPlace(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): BatchPlace {
  const folder = tempDir(files)
  const [home, out] = [tempDir(), join(folder, 'out')]
  const text = (name: string): string => {
    const path = join(out, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  return {
    folder,
    out,
    run: (words, options = {}) => agent(['batch', ...words], { cwd: folder, home, env, ...options }),
    lines: (name) =>
      text(name)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    json: (name) => JSON.parse(text(name)) as Record<string, unknown>,
  }
}

/** Tasks as JSON lines, all of them in the same repository. */
export function tasksFile(ids: readonly string[], repository = committed()): string {
  return ids.map((id) => `${JSON.stringify({ id, prompt: `do ${id}`, repo: repository })}\n`).join('')
}

/** The cost of each request to the model of `dearModel`, in US dollars. */
export const dollarsARequest = 1

/** Command-line arguments for a model that runs commands, one after the other, and ends. Each of its requests costs a dollar. */
export function dearModel(...commands: readonly string[]): readonly string[] {
  const model = recordingOf(...commands)
  return ['-m', model, '-c', `model_prices={"${model}"={input=${dollarsARequest * 1000},output=0}}`]
}

/**
 * Checks everything that must be true of a batch, whatever happened to its processes: each trial is settled once, every dollar that a session spent
 * is counted, and starting the batch again finds nothing left to do.
 *
 * @param words the command-line arguments with which the batch was started
 * @param spent what the batch's runs spent, in US dollars. Default: the sum in the logs of the sessions in its folder
 */
export async function expectWhole(
  place: BatchPlace,
  words: readonly string[],
  spent: number = spentIn(place),
): Promise<void> {
  const journal = (): readonly Record<string, unknown>[] => place.lines('journal.jsonl')
  const before = journal()
  const trials = place.lines('results.jsonl').map(({ trial }) => trial)
  const settled = before.flatMap(({ type, trial }) => (type === 'settled' ? [trial] : []))
  // The journal has at most one entry for each settled trial. It has none if the process that settled the trial was killed before it wrote one.
  expect(settled).toEqual([...new Set(settled)])
  expect(place.json('summary.json')).toMatchObject({ trials: trials.length, settled: trials.length })
  expect(place.json('summary.json')['cost_usd']).toBe(spent)
  const ends = readEnds(place)
  const again = await place.run(words)
  expect(again.stdout).toContain(`${trials.length} of ${trials.length} settled`)
  expect(readEnds(place)).toEqual(ends)
  expect(place.json('summary.json')['cost_usd']).toBe(spent)
  const more = journal().slice(before.length)
  expect(more.map(({ type }) => type)).toEqual(['batch-started', 'batch-ended'])
}

/** The sum that all sessions of a batch spent, according to their logs. */
function spentIn({ out }: BatchPlace): number {
  const logs = globSync('runs/*/*/session/events.jsonl', { cwd: out })
  const costs = logs.map((log) => {
    const lines = readFileSync(join(out, log), 'utf8').split('\n')
    const spent = lines.filter((line) => line.includes('"spent"')).flatMap((line) => costOf(line) ?? [])
    return spent.at(-1) ?? 0
  })
  return costs.reduce((sum, cost) => sum + cost, 0)
}

function costOf(line: string): number | undefined {
  try {
    const { type, costUsd } = JSON.parse(line) as { readonly type?: string; readonly costUsd?: number }
    return type === 'spent' ? costUsd : undefined
  } catch {
    // If the run was killed, the last line of its log may be incomplete.
    return undefined
  }
}

/** The files that record how each attempt ended and how each trial was settled, with their contents. */
const readEnds = ({ out }: BatchPlace): readonly (readonly [string, string])[] =>
  globSync(['runs/*/*/result.json', 'runs/*/settled.json'], { cwd: out })
    .toSorted()
    .map((name) => [name, readFileSync(join(out, name), 'utf8')])
