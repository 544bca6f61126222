import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { measureInTurns } from './measure.ts'
import { besideOldBuild } from './old-build.ts'
import { findCodex } from './peer.ts'
import type { BenchRow } from './row.ts'

/** Measures the sandbox's own costs: one command from a running engine, many at once, and a whole program that runs one command. */
export async function sandboxBench(): Promise<readonly BenchRow[]> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  const confined = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }))
  const unconfined = await openSandbox(parsePolicy({ mode: 'danger-full-access', workspace }))
  try {
    const one = await inTurns(60, [() => runTrue(confined), () => runBare(workspace)])
    const bare = await inTurns(60, [() => runTrue(unconfined), () => runPlain(workspace)])
    const many = await inTurns(9, [() => runMany(confined, 64, 8), () => runMany(confined, 64, 1)])
    return [
      {
        name: '`true` from a running engine',
        ours: wall(one[0]),
        peer: wall(one[1]),
        note: 'peer: bare bwrap; 60 runs',
      },
      { name: '`true` unconfined', ours: wall(bare[0]), peer: wall(bare[1]), note: 'peer: spawn alone; 60 runs' },
      {
        name: '64 × `true`, 8 at a time',
        ours: wall(many[0]),
        peer: wall(many[1]),
        note: `peer: ours one at a time; ${availableParallelism()} processors; 9 runs`,
      },
      ...(await warmExec(workspace)),
      await wholeProgram(workspace),
      ...(await besideOldBuild()),
    ]
  } finally {
    await confined.close()
    await unconfined.close()
    await rm(workspace, { recursive: true, force: true })
  }
}

/** Compares a command in a warm container with `docker exec`. Returns no row if docker or the test image is missing. */
async function warmExec(workspace: string): Promise<readonly BenchRow[]> {
  const image = 'portcullis-test:latest'
  if (spawnSync('docker', ['image', 'inspect', image]).status !== 0) return []
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }), { backend: 'docker', image })
  const peer = `portcullis-bench-${process.pid}`
  spawnSync('docker', ['run', '-d', '--rm', '-i', '--network', 'none', '--name', peer, image, '/bin/cat'])
  try {
    const times = await inTurns(20, [
      () => runTrue(sandbox),
      () => runToClose('docker', ['exec', peer, 'true'], workspace),
    ])
    return [
      {
        name: '`true` in a warm container',
        ours: wall(times[0]),
        peer: wall(times[1]),
        note: 'peer: docker exec; 20 runs',
      },
    ]
  } finally {
    await sandbox.close()
    spawnSync('docker', ['rm', '-f', peer])
  }
}

async function wholeProgram(workspace: string): Promise<BenchRow> {
  const agent = new URL('../../dist/bin/agent.js', import.meta.url).pathname
  const codex = findCodex()
  const directory = (): Promise<string> => Promise.resolve(workspace)
  const [ours, peer] = await measureInTurns(
    [
      { argv: [process.execPath, agent, 'sandbox', '--', 'true'], directory },
      ...(codex === undefined
        ? []
        : [{ argv: [codex, 'sandbox', '-P', ':workspace', '--', 'true'] as const, directory }]),
    ],
    21,
  )
  return {
    name: '`agent sandbox -- true`',
    ours: ours ?? { wallMs: Number.NaN },
    ...(peer === undefined ? {} : { peer }),
    note: 'peer: codex sandbox; 21 runs',
  }
}

/** Median wall times of several functions, which are called alternately after two warm-up rounds. */
async function inTurns(rounds: number, things: readonly (() => Promise<void>)[]): Promise<readonly number[]> {
  const times: number[][] = things.map(() => [])
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, thing] of things.entries()) {
      const started = performance.now()
      await thing()
      if (round >= 0) times[index]?.push(performance.now() - started)
    }
  }
  return times.map((list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN)
}

function wall(wallMs: number | undefined): { wallMs: number } {
  return { wallMs: wallMs ?? Number.NaN }
}

async function runTrue(sandbox: Sandbox): Promise<void> {
  const started = sandbox.spawn({ argv: ['true'], cwd: sandbox.policy.workspace })
  started.stdout.resume()
  started.stderr.resume()
  const result = await started.result
  if (result.status !== 'exited' || result.code !== 0) throw new Error(`\`true\` was ${JSON.stringify(result)}`)
}

async function runMany(sandbox: Sandbox, count: number, atOnce: number): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await runTrue(sandbox)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Runs `true` in the simplest possible bwrap sandbox. The cost of this is the minimum for every sandbox that uses bwrap. */
function runBare(workspace: string): Promise<void> {
  const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc']
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', workspace, workspace]
  return runToClose('bwrap', [...namespaces, ...mounts, 'true'], workspace)
}

function runPlain(workspace: string): Promise<void> {
  return runToClose('true', [], workspace)
}

function runToClose(program: string, words: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))))
  })
}
