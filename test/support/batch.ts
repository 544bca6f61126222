import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agent, type AgentOptions, type Ended } from './agent.ts'
import { tempDir } from './temp-dir.ts'

/** Makes a repository of these files, in one commit. Gives its path. */
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

/** A recording that runs commands, one after the other, and ends. Gives the model's name. */
export function recordingOf(...commands: readonly string[]): string {
  const calls = commands.map((cmd) => ({
    events: [{ type: 'tool_call', name: 'exec_command', arguments: { cmd, yield_time_ms: 60_000 } }],
  }))
  const lines = [{ portcullis_replay: 1 }, ...calls, { events: [{ type: 'message', text: 'Done.' }] }]
  const folder = tempDir({ 'recording.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') })
  return `replay:${join(folder, 'recording.jsonl')}`
}

/** A place to run batches in: a folder with these files in it, and a home. */
export type BatchPlace = {
  readonly folder: string
  readonly out: string
  readonly run: (words: readonly string[], options?: Partial<AgentOptions>) => Promise<Ended>
  /** The values of a file of JSON lines in the batch's folder. */
  readonly lines: (name: string) => readonly Record<string, unknown>[]
  readonly json: (name: string) => Record<string, unknown>
}

export function batchPlace(files: Readonly<Record<string, string>>): BatchPlace {
  const folder = tempDir(files)
  const [home, out] = [tempDir(), join(folder, 'out')]
  const text = (name: string): string => {
    const path = join(out, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  return {
    folder,
    out,
    run: (words, options = {}) => agent(['batch', ...words], { cwd: folder, home, ...options }),
    lines: (name) =>
      text(name)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    json: (name) => JSON.parse(text(name)) as Record<string, unknown>,
  }
}

/** Tasks as JSON lines, each in a repository of its own. */
export function tasksFile(ids: readonly string[], repository = committed()): string {
  return ids.map((id) => `${JSON.stringify({ id, prompt: `do ${id}`, repo: repository })}\n`).join('')
}
