import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { measureInTurns, type MeasuredProgram } from './measure.ts'
import type { BenchRow, Cost } from './row.ts'
import type { Work, WorkCost } from './sandboxed-work.ts'

/** The directory of this build. `oldBuild` is the directory of another commit's build; undefined if there is nothing to compare with. */
export const thisBuild = fileURLToPath(new URL('../..', import.meta.url))
export let oldBuild: string | undefined

/** Makes another commit's build the peer of all benchmarks that can compare with one. Returns its directory; undefined if it contains no build. */
export function compareWith(directory: string): string | undefined {
  const path = resolve(directory)
  if (existsSync(join(path, 'dist/bin/agent.js'))) oldBuild = path
  return oldBuild
}

const worker = fileURLToPath(new URL('sandboxed-work.ts', import.meta.url))
const note = (runs: number): string => `peer: the other build; CPU time with children; ${runs} runs`

const works: readonly { readonly name: string; readonly isRepository: boolean; readonly work: Work }[] = [
  { name: '`true`', isRepository: false, work: { argv: ['true'], count: 20 } },
  { name: '`true` in a repository', isRepository: true, work: { argv: ['true'], count: 20 } },
  { name: '`git status`', isRepository: true, work: { argv: ['git', 'status', '--short'], count: 20 } },
  {
    name: 'a commit of one file',
    isRepository: true,
    work: { argv: ['sh', '-c', 'date +%s%N >> file; git commit -qam one'], count: 5 },
  },
]

/**
 * Compares the cost of confinement with that of the other build: for commands of a running engine, for the first command of a process, and for a
 * whole program. The builds take turns.
 */
export async function besideOldBuild(): Promise<readonly BenchRow[]> {
  if (oldBuild === undefined) return []
  const builds = [thisBuild, oldBuild]
  const home = await mkdtemp(join(tmpdir(), 'portcullis-bench-home-'))
  try {
    const rows: BenchRow[] = []
    for (const { name, isRepository, work } of works) {
      const [ours, peer] = await workInTurns(builds, isRepository, work, 24)
      if (ours !== undefined && peer !== undefined) rows.push({ name, ours, peer, note: note(24 * work.count) })
    }
    const programs = [
      ['first command of a process', (build: string) => [worker, build, '.']],
      ['`agent sandbox -- true`', (build: string) => [join(build, 'dist/bin/agent.js'), 'sandbox', '--', 'true']],
    ] as const
    for (const [name, words] of programs) {
      const measured = builds.map((build): MeasuredProgram => {
        const [file = '', ...rest] = words(build)
        return {
          argv: [process.execPath, file, ...rest.map((word) => (word === '.' ? home : word))],
          directory: () => workspace(true),
          env: environmentFor(build, home),
        }
      })
      const [ours, peer] = await measureInTurns(measured, 24)
      if (ours !== undefined && peer !== undefined) rows.push({ name, ours, peer, note: note(24) })
    }
    return rows
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/**
 * The environment for a build, with a cache directory of its own. If the builds shared one, each would discard what the other has found out about the
 * machine.
 */
export function environmentFor(build: string, home: string): Readonly<Record<string, string>> {
  return { XDG_CACHE_HOME: join(home, build === thisBuild ? 'this' : 'old') }
}

async function workspace(isRepository: boolean): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  if (!isRepository) return directory
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', words, { cwd: directory, stdio: 'ignore' })
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@b')
  for (const name of ['file', 'other', 'third']) await writeFile(join(directory, name), name)
  git('add', '-A')
  git('commit', '-qm', 'first')
  return directory
}

/** The median cost of one command in each build. A sandbox of each build stays open, and the builds take turns. */
async function workInTurns(
  builds: readonly string[],
  isRepository: boolean,
  work: Work,
  rounds: number,
): Promise<readonly Cost[]> {
  const directories = await Promise.all(builds.map(() => workspace(isRepository)))
  const children = builds.map((build, index) =>
    fork(worker, [build, directories[index] ?? '/'], { serialization: 'json' }),
  )
  try {
    for (const child of children) await once(child, 'message')
    const costs: WorkCost[][] = builds.map(() => [])
    for (let round = -4; round < rounds; round += 1) {
      for (const [index, child] of children.entries()) {
        const cost = await ask(child, work)
        if (round >= 0) costs[index]?.push(cost)
      }
    }
    return costs.map((all) => ({ wallMs: median(all, 'wallMs'), cpuMs: median(all, 'cpuMs') }))
  } finally {
    for (const child of children) child.disconnect()
    await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)))
    for (const directory of directories) await rm(directory, { recursive: true, force: true })
  }
}

async function ask(child: ChildProcess, work: Work): Promise<WorkCost> {
  const answer = once(child, 'message') as Promise<[WorkCost]> // the worker sends nothing else once it is ready
  child.send(work)
  return (await answer)[0]
}

function median(costs: readonly WorkCost[], key: keyof WorkCost): number {
  return costs.map((cost) => cost[key]).toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN
}
