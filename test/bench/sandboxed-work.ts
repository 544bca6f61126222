/**
 * Runs commands in the sandbox of a build, in a separate process, for a benchmark that compares builds. `sandboxed-work.ts BUILD WORKSPACE` runs one
 * command. Then it ends or, if it was started with a channel to the benchmark, carries out the benchmark's requests.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type * as SandboxPackage from '../../sandbox/index.ts'

/** The average cost of one command. The CPU time includes that of child processes that have exited. */
export type WorkCost = { readonly wallMs: number; readonly cpuMs: number }

/** A request to run a command `count` times, one after the other. */
export type Work = { readonly argv: readonly [string, ...string[]]; readonly count: number }

const [build = '', workspace = ''] = process.argv.slice(2)
// The public entry point of a build. The build only has to export what is used here.
const { openSandbox, parsePolicy } = (await import(join(build, 'dist/sandbox/index.js'))) as typeof SandboxPackage
const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }))
await run(['true'])
if (process.send === undefined) await sandbox.close()
else {
  process.on('message', (work: Work) => void measure(work).then((cost) => process.send?.(cost)))
  process.once('disconnect', () => void sandbox.close())
  process.send('ready')
}

async function measure({ argv, count }: Work): Promise<WorkCost> {
  const [wall, cpu] = [performance.now(), cpuTime()]
  for (let at = 0; at < count; at += 1) await run(argv)
  return { wallMs: (performance.now() - wall) / count, cpuMs: (cpuTime() - cpu) / count }
}

/** The CPU time of this process and its ended children, in milliseconds. For children, the kernel reports hundredths of a second (proc(5)). */
function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10
}

async function run(argv: Work['argv']): Promise<void> {
  const started = sandbox.spawn({ argv, cwd: sandbox.policy.workspace })
  started.stdout.resume()
  started.stderr.resume()
  const result = await started.result
  if (result.status !== 'exited' || result.code !== 0) throw new Error(`${argv.join(' ')}: ${JSON.stringify(result)}`)
}
