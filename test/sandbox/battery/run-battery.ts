import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { openSandbox, parsePolicy, type Backend } from '../../../sandbox/index.ts'
import { hierarchyHere } from '../../../sandbox/limits/prepare.ts'
import { image, imageRoots } from '../docker-image.ts'
import { makePlaces, removeTemplate, secret, type Places } from './places.ts'
import { probes, type Mode, type Outcome, type Probe } from './probes.ts'

/** What one probe did in one mode: executed, never inferred. */
export type Executed = {
  readonly probe: string
  readonly mode: Mode
  readonly expected: Outcome
  readonly outcome: Outcome
}

const mebibyte = 1024 ** 2
const limits = {
  fileSizeBytes: 100 * mebibyte,
  openFiles: 256,
  processes: 100,
  wallTimeMs: 3000,
}

/** A limit on memory is refused where nothing can enforce it. */
const limitsMemory = (backend: Backend): boolean => backend === 'docker' || hierarchyHere() !== undefined

/** Runs every probe in both modes of a backend, each on a host freshly made, and says what came of it. */
export async function runBattery(backend: Backend): Promise<readonly Executed[]> {
  process.env['PROBE_API_TOKEN'] = secret
  const home = process.env['HOME']
  const executed: Executed[] = []
  try {
    // Unconfined there is one mode only, and its outcomes show which probes can get through at all.
    for (const mode of backend === 'unconfined'
      ? (['workspace-write'] as const)
      : (['workspace-write', 'read-only'] as const)) {
      // Containers take long: in the second mode only what that mode changes.
      const queue = probes.filter(
        ({ name, expect }) =>
          (backend === 'unconfined' || name !== '400 MB of memory' || limitsMemory(backend)) &&
          (mode === 'workspace-write' || backend !== 'docker' || expect[mode] !== expect['workspace-write']),
      )
      // Several at a time: many of them wait, for a container or for a limit to strike.
      const worker = async (): Promise<void> => {
        for (let probe = queue.shift(); probe !== undefined; probe = queue.shift()) {
          const outcome = await execute(probe, mode, backend)
          const expected = backend === 'docker' ? (probe.inDocker ?? probe.expect[mode]) : probe.expect[mode]
          executed.push({ probe: probe.name, mode, expected, outcome })
        }
      }
      await Promise.all(Array.from({ length: backend === 'docker' ? 4 : 2 }, worker))
    }
  } finally {
    await removeTemplate()
    delete process.env['PROBE_API_TOKEN']
    if (home === undefined) delete process.env['HOME']
    else process.env['HOME'] = home
  }
  return executed
}

async function execute(probe: Probe, mode: Mode, backend: Backend): Promise<Outcome> {
  const places = await makePlaces()
  try {
    for (const [name, program] of Object.entries(probe.programs?.() ?? {})) {
      await writeFile(join(places.workspace, name), program, { mode: 0o755 })
    }
    const printed = await attempt(probe, mode, backend, places)
    return printed.includes('GOT') || probe.seen?.(places) === true ? 'allowed' : 'blocked'
  } finally {
    await places.close()
  }
}

async function attempt(probe: Probe, mode: Mode, backend: Backend, places: Places): Promise<string> {
  process.env['HOME'] = places.home
  const policy =
    backend === 'unconfined'
      ? parsePolicy({
          mode: 'danger-full-access',
          workspace: places.workspace,
          environment: { inherit: 'all', pass: ['PROBE_API_TOKEN'] },
        })
      : parsePolicy({
          mode,
          workspace: places.workspace,
          environment: { inherit: 'all' },
          limits: limitsMemory(backend) ? { ...limits, memoryBytes: 256 * mebibyte } : limits,
          readableRoots: backend === 'docker' ? [...imageRoots] : [],
        })
  const sandbox = await openSandbox(policy, { backend, image })
  try {
    // What the other probes do meanwhile may have set it to another home.
    process.env['HOME'] = places.home
    const started = sandbox.spawn({
      argv: ['sh', '-c', probe.script(places)],
      cwd: probe.cwd?.(places) ?? places.workspace,
    })
    const [printed] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
    return printed
  } finally {
    await sandbox.close()
  }
}
