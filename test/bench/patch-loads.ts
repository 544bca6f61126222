import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { loads, writeLoad } from './generate-patch-loads.ts'
import type { BenchRow, Cost } from './row.ts'

const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname
const runs = 5

/**
 * What applying costs, ours and Codex's in turns, each run on a fresh copy of the tree. Codex is `CODEX_BIN`, or
 * `codex` on the PATH; without it the rows have no peer.
 */
export async function patchLoads(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'apply-patch-bench-'))
  try {
    const peer = linkPeer(folder)
    const rows: BenchRow[] = []
    const empty = join(folder, 'empty')
    writeLoad(empty, { files: [], patch: '' })
    const start = await inTurns(folder, empty, [[process.execPath, '--eval', '0']], runs)
    rows.push({
      name: 'apply-patch: node alone',
      ours: start[0] ?? { wallMs: 0 },
      note: 'subtract for the cost in-process',
    })
    for (const [letter, { title, make }] of Object.entries(loads)) {
      const load = join(folder, letter)
      writeLoad(load, make())
      // The peer needs seconds for each run of these.
      const count = letter === 'd' || letter === 'h' ? 2 : runs
      const commands = [[process.execPath, program], ...(peer === undefined ? [] : [[peer]])]
      const [ours, theirs] = await inTurns(folder, load, commands, count)
      if (ours === undefined) continue
      rows.push({
        name: `apply-patch ${letter}: ${title}`,
        ours,
        ...(theirs && { peer: theirs }),
        note: `${count} runs`,
      })
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Codex takes a patch when it is called by this name. */
function linkPeer(folder: string): string | undefined {
  const named = process.env['CODEX_BIN']
  const found =
    named ??
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((one) => join(one, 'codex'))
      .find(isExecutable)
  if (found === undefined) return undefined
  symlinkSync(found, join(folder, 'apply_patch'))
  return join(folder, 'apply_patch')
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Not there, or not ours to run: the next one may be.
    return false
  }
}

/** Medians for each command. They take turns, so that whatever else the machine does hits all alike. */
async function inTurns(
  folder: string,
  load: string,
  commands: readonly (readonly string[])[],
  count: number,
): Promise<readonly Cost[]> {
  const costs: Cost[][] = commands.map(() => [])
  for (let turn = 0; turn < count; turn++) {
    for (const [index, command] of commands.entries()) {
      const tree = join(folder, 'run')
      rmSync(tree, { recursive: true, force: true })
      cpSync(join(load, 'tree'), tree, { recursive: true })
      costs[index]?.push(await measure(command, tree, join(load, 'patch'), join(folder, 'state')))
    }
  }
  return costs.map((all) => ({
    wallMs: median(all.map(({ wallMs }) => wallMs)),
    cpuMs: median(all.map(({ cpuMs = 0 }) => cpuMs)),
    peakMiB: median(all.map(({ peakMiB = 0 }) => peakMiB)),
  }))
}

/** One run under GNU time where there is one, which alone tells CPU time and peak memory of a child. */
async function measure(command: readonly string[], cwd: string, input: string, state: string): Promise<Cost> {
  const time = '/usr/bin/time'
  const report = join(cwd, '..', 'time')
  const hasTime = isExecutable(time)
  const [file = '', ...args] = hasTime ? [time, '-o', report, '-f', '%e %U %S %M', ...command] : command
  const stdin = openSync(input, 'r')
  const env = { ...process.env, XDG_STATE_HOME: state }
  const began = process.hrtime.bigint()
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: [stdin, 'ignore', 'ignore'] })
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const wallMs = Number(process.hrtime.bigint() - began) / 1e6
  closeSync(stdin)
  if (!hasTime) return { wallMs }
  const [, user = 0, system = 0, memory = 0] = (readFileSync(report, 'utf8').trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number)
  return { wallMs, cpuMs: (user + system) * 1000, peakMiB: memory / 1024 }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
