import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { credentialPlaces, openSandbox, parsePolicy, type Backend } from '../../../sandbox/index.ts'
import { hierarchyHere } from '../../../sandbox/limits/prepare.ts'
import { fingerprint } from '../../engine/transaction/fingerprint.ts'
import { image, imageRoots } from '../docker-image.ts'
import { makePlaces, removeShared, secret, type Places } from './places.ts'
import { probes, type Mode, type Outcome, type Probe } from './probes.ts'
import { planted, realOnly, viewProbes, type ViewPlaces } from './view-probes.ts'

/** The outcome of one probe in one mode, and the outcome that the policy requires. */
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

/** Whether the battery's policy limits memory. A memory limit is refused if nothing can enforce it. */
const limitsMemory = (backend: Backend): boolean => backend === 'docker' || hierarchyHere() !== undefined

/**
 * Runs the probes in each mode of a backend, with fresh targets for every probe, and returns the outcomes. Two kinds of probes are left out:
 * those for a limit that nothing can enforce, and, in docker's second mode, those that the mode doesn't affect.
 *
 * @param viewed whether commands see a private view in place of the workspace. The workspace itself must then stay unchanged
 */
export async function runBattery(backend: Backend, viewed = false): Promise<readonly Executed[]> {
  process.env['PROBE_API_TOKEN'] = secret
  const home = process.env['HOME']
  const executed: Executed[] = []
  try {
    // The unconfined backend has only one mode. Its outcomes show which probes can succeed at all.
    for (const mode of backend === 'unconfined'
      ? (['workspace-write'] as const)
      : (['workspace-write', 'read-only'] as const)) {
      // Containers are slow, so in the second mode only probes that the mode affects are run.
      const queue = [...probes, ...(viewed ? outOfView : [])].filter(
        ({ name, expect }) =>
          (backend === 'unconfined' || name !== '400 MB of memory' || limitsMemory(backend)) &&
          (mode === 'workspace-write' || backend !== 'docker' || expect[mode] !== expect['workspace-write']),
      )
      // Several probes run at a time, because many of them only wait for a container or for a limit.
      const worker = async (): Promise<void> => {
        for (let probe = queue.shift(); probe !== undefined; probe = queue.shift()) {
          const outcome = await execute(probe, mode, backend, viewed)
          const expected = backend === 'docker' ? (probe.inDocker ?? probe.expect[mode]) : probe.expect[mode]
          executed.push({ probe: probe.name, mode, expected, outcome })
        }
      }
      await Promise.all(Array.from({ length: backend === 'docker' ? 4 : 2 }, worker))
    }
  } finally {
    await removeShared()
    delete process.env['PROBE_API_TOKEN']
    if (home === undefined) delete process.env['HOME']
    else process.env['HOME'] = home
  }
  return executed
}

async function execute(probe: Probe, mode: Mode, backend: Backend, viewed: boolean): Promise<Outcome> {
  const places = await makePlaces()
  try {
    const view = viewed ? makeView(places) : undefined
    const source = view?.source ?? places.workspace
    for (const [name, program] of Object.entries(probe.programs?.() ?? {})) {
      await writeFile(join(source, name), program, { mode: 0o755 })
    }
    const before = viewed ? fingerprint(places.workspace) : {}
    const printed = await attempt(probe, mode, backend, places, view)
    if (viewed && !isDeepStrictEqual(before, fingerprint(places.workspace))) return 'allowed'
    return printed.includes('GOT') || probe.seen?.({ ...places, workspace: source }) === true ? 'allowed' : 'blocked'
  } finally {
    await places.close()
  }
}

/** Where the view of a workspace is shown and stored. */
const viewPlaces = ({ base, workspace }: Pick<Places, 'base' | 'workspace'>): ViewPlaces => ({
  workspace,
  keptIn: join(base, 'kept'),
  source: join(base, 'kept/view'),
})

const outOfView = viewProbes.map(({ name, script }): Probe => ({
  name: `out of a view: ${name}`,
  script: (places) => script(viewPlaces(places)),
  seen: (places) => planted(viewPlaces(places)).length > 0,
  expect: { 'workspace-write': 'blocked', 'read-only': 'blocked' },
}))

function makeView(places: Places): ViewPlaces {
  const { workspace } = places
  const { keptIn, source } = viewPlaces(places)
  mkdirSync(keptIn)
  spawnSync('cp', ['-a', workspace, source])
  writeFileSync(join(workspace, realOnly), secret)
  return { workspace, source, keptIn }
}

async function attempt(
  probe: Probe,
  mode: Mode,
  backend: Backend,
  places: Places,
  view: ViewPlaces | undefined,
): Promise<string> {
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
          ...(view === undefined
            ? {}
            : {
                views: [{ path: places.workspace, source: view.source }],
                deniedReads: [...credentialPlaces(), view.keptIn],
              }),
          limits: limitsMemory(backend) ? { ...limits, memoryBytes: 256 * mebibyte } : limits,
          readableRoots: backend === 'docker' ? [...imageRoots] : [],
        })
  const sandbox = await openSandbox(policy, { backend, image })
  try {
    // Probes that run at the same time may have set this to a different home.
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
