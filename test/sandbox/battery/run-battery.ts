import { mkdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { lockSession } from '../../../engine/session/session-lock.ts'
import { land } from '../../../engine/transaction/land.ts'
import { makeView } from '../../../engine/transaction/private-view.ts'
import { recordChanges } from '../../../engine/transaction/record-changes.ts'
import type { PrivateView } from '../../../engine/transaction/stored-view.ts'
import { credentialPlaces, openSandbox, parsePolicy, type Backend, type Sandbox } from '../../../sandbox/index.ts'
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
 * In a sandbox, commands see a view in place of the workspace. The workspace itself must then stay unchanged until the view lands, and afterwards
 * holds nothing of what a probe must not do.
 */
export async function runBattery(backend: Backend): Promise<readonly Executed[]> {
  const viewed = backend !== 'unconfined'
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
    for (const [name, program] of Object.entries(probe.programs?.() ?? {})) {
      await writeFile(join(places.workspace, name), program, { mode: 0o755 })
    }
    const view = viewed ? await viewOf(places) : undefined
    let isReached = false
    const printed = await attempt(probe, mode, backend, places, view, async (sandbox, before) => {
      if (view === undefined) return
      isReached = planted(viewPlaces(places)).length > 0 || !isDeepStrictEqual(before, fingerprint(places.workspace))
      if (mode === 'read-only') return
      const landing = await land(view.directory, await recordChanges(view, sandbox, true), { commits: true })
      if (landing.type !== 'landed' && landing.type !== 'nothing') throw new Error(JSON.stringify(landing))
    })
    return isReached || printed.includes('GOT') || probe.seen?.(places) === true ? 'allowed' : 'blocked'
  } finally {
    await places.close()
  }
}

/** Where the view of a workspace is shown and stored. */
const viewPlaces = ({ base, workspace }: Pick<Places, 'base' | 'workspace'>): ViewPlaces => ({
  workspace,
  keptIn: join(base, 'kept'),
  source: join(base, 'kept/view/0'),
})

const outOfView = viewProbes.map(({ name, script }): Probe => ({
  name: `out of a view: ${name}`,
  script: (places) => script(viewPlaces(places)),
  expect: { 'workspace-write': 'blocked', 'read-only': 'blocked' },
}))

async function viewOf({ base, workspace }: Places): Promise<PrivateView> {
  const { keptIn } = viewPlaces({ base, workspace })
  mkdirSync(keptIn, { mode: 0o700 })
  const view = await makeView(lockSession(keptIn, 'run').directory, [workspace], 'copy', '')
  writeFileSync(join(workspace, realOnly), secret)
  return view
}

async function attempt(
  probe: Probe,
  mode: Mode,
  backend: Backend,
  places: Places,
  view: PrivateView | undefined,
  atEnd: (sandbox: Sandbox, before: unknown) => Promise<void>,
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
                views: view.views,
                deniedReads: [...credentialPlaces(), view.directory],
              }),
          limits: limitsMemory(backend) ? { ...limits, memoryBytes: 256 * mebibyte } : limits,
          readableRoots: backend === 'docker' ? [...imageRoots] : [probe.cwd?.(places) ?? places.workspace],
        })
  const sandbox = await openSandbox(policy, { backend, image })
  try {
    // Probes that run at the same time may have set this to a different home.
    process.env['HOME'] = places.home
    const before = view && fingerprint(places.workspace)
    const started = sandbox.spawn({
      argv: ['sh', '-c', probe.script(places)],
      cwd: probe.cwd?.(places) ?? places.workspace,
    })
    const [printed] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
    await atEnd(sandbox, before)
    return printed
  } finally {
    await sandbox.close()
  }
}
