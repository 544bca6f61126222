import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { hierarchyHere } from '../../sandbox/limits/prepare.ts'
import type { ExecResult, SandboxOptions, SandboxPolicyInput } from '../../sandbox/index.ts'
import { eventually, temporaryDirectory } from './helpers.ts'

/** The task of the program `kill-driver.ts`: the sandbox that it opens, and the script that it runs there. */
export type Drive = {
  readonly policy: SandboxPolicyInput
  readonly options: SandboxOptions
  readonly script: string
  readonly slow: boolean
}

/** What `kill-driver.ts` reports if it was not killed: how its command ended, how many bytes of output arrived, and its own peak memory. */
export type Driven = { readonly result: ExecResult; readonly bytes: number; readonly maxRssKib: number }

const driver = new URL('./kill-driver.ts', import.meta.url).pathname

/**
 * A workspace and a temporary directory for tests that start engines, which are processes that open a sandbox. All that engines leave behind can be
 * found: processes by a variable that all commands inherit, and the rest by the paths of these directories and the engines' process ids.
 */
export type Stage = {
  readonly workspace: string
  /** Starts an engine with the program `kill-driver.ts`. Resolves when the engine's command is running. */
  start(drive: Pick<Drive, 'script'> & Partial<Drive>): Promise<Engine>
  /** Returns descriptions of everything that the engines of this stage have left behind. */
  leftovers(): readonly string[]
}

type Engine = { readonly child: ChildProcess; readonly driven: Promise<Driven | undefined> }

/**
 * Creates a stage, in which engines can be started.
 *
 * @param grant the settings that every policy of this stage has in addition to its own
 */
export async function makeStage(grant: Partial<SandboxPolicyInput>, options: SandboxOptions): Promise<Stage> {
  const mark = randomUUID()
  const place = await temporaryDirectory()
  const [workspace, temp] = [join(place, 'workspace'), join(place, 'temp')]
  for (const path of [workspace, temp]) await mkdir(path)
  const pids: number[] = []
  return {
    workspace,
    start: async (drive) => {
      const policy = {
        mode: 'workspace-write' as const,
        workspace,
        ...grant,
        ...drive.policy,
        environment: { set: { STAGE_MARK: mark } },
      }
      const input: Drive = { options, slow: false, ...drive, policy }
      const child = spawn(process.execPath, [driver, JSON.stringify(input)], {
        env: { ...process.env, TMPDIR: temp },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      pids.push(child.pid ?? 0)
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
      const driven = new Promise<Driven | undefined>((resolve) => {
        child.once('close', (code) =>
          resolve(code === 0 ? (JSON.parse(said.split('\n')[1] ?? '') as Driven) : undefined),
        )
      })
      await eventually(() => said.startsWith('started\n') || child.exitCode !== null)
      return { child, driven }
    },
    leftovers: () => [
      ...processesMarked(mark).map((pid) => `process ${pid}`),
      ...pids.flatMap(containersOf).map((container) => `container ${container}`),
      ...readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(place))
        .map((line) => `mount ${line}`),
      ...readdirSync(temp).map((name) => `file ${name}`),
      ...pids.flatMap(groupsOf).map((group) => `control group ${group}`),
    ],
  }
}

/** The ids of all live processes on this machine that inherited the variable with this mark. */
function processesMarked(mark: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const isZombie = /\) Z /.test(readFileSync(`/proc/${name}/stat`, 'latin1'))
      return !isZombie && readFileSync(`/proc/${name}/environ`, 'latin1').includes(`STAGE_MARK=${mark}`)
    } catch {
      // The process has ended in the meantime, or belongs to another user.
      return false
    }
  })
}

function containersOf(pid: number): readonly string[] {
  const format = '{{.Label "dev.portcullis.owner"}} {{.ID}}'
  const asked = ['ps', '-a', '--filter', 'label=dev.portcullis.owner', '--format', format]
  const { stdout } = spawnSync('docker', asked, { encoding: 'utf8' })
  return (stdout ?? '').split('\n').filter((line) => line.includes(`-${pid}-`))
}

function groupsOf(pid: number): readonly string[] {
  const hierarchy = hierarchyHere()
  if (hierarchy === undefined) return []
  const parents = hierarchy.version === 1 ? [hierarchy.memory, hierarchy.pids] : [hierarchy.parent]
  return parents.flatMap((parent) =>
    readdirSync(parent).filter((name) => name.startsWith('portcullis-group-') && name.includes(`-${pid}-`)),
  )
}
