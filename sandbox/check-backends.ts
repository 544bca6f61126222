import process from 'node:process'
import { existsSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { hierarchyHere } from './limits/prepare.ts'
import { planLimits } from './limits/plan-limits.ts'
import { defaultBackend } from './open-sandbox.ts'
import { parsePolicy } from './sandbox-policy.ts'
import type { SecondFence } from './second-fence.ts'
import { backendNames, factsOf, type Backend } from './backend.ts'
import { loadBackend } from './load-backend.ts'

/** What a test of a backend found: whether it can be used here and, if not, why, and how to enable it. */
export type BackendReport =
  | {
      readonly backend: Backend
      readonly usable: true
      readonly confines: boolean
      /** What confines the writes of commands besides mounts. It is absent for a backend that knows no such fence. */
      readonly fence?: SecondFence
    }
  | { readonly backend: Backend; readonly usable: false; readonly reason: string; readonly remedy: string }

/** What this machine can enforce. */
export type DoctorReport = {
  readonly platform: string
  /** The default backend for confining commands. */
  readonly preferred: Backend
  /** The default backend; undefined if it can't be used. */
  readonly chosen: Backend | undefined
  readonly backends: readonly BackendReport[]
  readonly limits: {
    readonly by: 'control groups, version 1' | 'control groups, version 2' | 'process limits'
    /** A sentence for each default limit that can't be enforced here. */
    readonly unenforced: readonly string[]
  }
  /** Facts about this machine that explain the other parts of the report. */
  readonly notes: readonly string[]
}

/**
 * Tests what can be enforced here, without relying on remembered results.
 *
 * @example const { chosen, backends } = await doctor()
 */
export async function doctor(): Promise<DoctorReport> {
  const backends: BackendReport[] = []
  for (const name of backendNames()) if (!factsOf(name).isStated) backends.push(await reportOf(name))
  const wanted = defaultBackend(parsePolicy({ mode: 'read-only', workspace: '/' }))
  const hierarchy = hierarchyHere()
  const plan = planLimits(
    parsePolicy({ mode: 'read-only', workspace: '/' }),
    { groups: hierarchy !== undefined, processLimit: process.geteuid?.() !== 0 },
    wanted,
  )
  const { unenforced } = await loadBackend(wanted)
  return {
    platform: `${process.platform} ${process.arch}`,
    preferred: wanted,
    chosen: backends.find(({ backend, usable }) => backend === wanted && usable)?.backend,
    backends,
    limits: {
      by: hierarchy === undefined ? 'process limits' : `control groups, version ${hierarchy.version}`,
      unenforced: (await unenforced?.(plan.unenforced)) ?? plan.unenforced,
    },
    notes: notes(),
  }
}

/**
 * Formats a report for a terminal.
 *
 * @example console.log(renderDoctor(await doctor()))
 */
export function renderDoctor(report: DoctorReport): string {
  const lines = [
    `${report.platform}: ${report.chosen === undefined ? "the default sandbox can't be used" : `commands are confined by ${report.chosen}`}`,
    ...report.backends.flatMap((each) =>
      each.usable
        ? [`  ok  ${each.backend}${remarkOn(each)}`]
        : [`  no  ${each.backend}: ${each.reason}`, `      ${each.remedy}`],
    ),
    `limits: by ${report.limits.by}`,
    ...report.limits.unenforced.map((sentence) => `  ${sentence}`),
    ...report.notes.map((note) => `note: ${note}`),
  ]
  return `${lines.join('\n')}\n`
}

function remarkOn({ confines, fence }: Extract<BackendReport, { usable: true }>): string {
  if (!confines) return ' (confines nothing; only for danger-full-access mode)'
  if (fence === undefined) return ''
  return fence === 'none' ? ' (no second fence: only mounts confine writes)' : ` (second fence: ${fence})`
}

/** Tries one backend and returns its row of the report. */
async function reportOf(backend: Backend): Promise<BackendReport> {
  try {
    const fence = await (await loadBackend(backend)).tryOut()
    return { backend, usable: true, confines: factsOf(backend).confines, ...(fence === undefined ? {} : { fence }) }
  } catch (error) {
    if (!SandboxError.is(error, 'unavailable')) throw error
    return { backend, usable: false, reason: error.data.reason, remedy: error.data.remedy }
  }
}

/**
 * Whether there is a docker daemon that can enforce policies.
 *
 * @example console.log((await isDockerUsable()) ? 'docker can confine commands' : 'no docker daemon can be used')
 */
export async function isDockerUsable(): Promise<boolean> {
  return (await reportOf('docker')).usable
}

function notes(): readonly string[] {
  const inContainer = existsSync('/.dockerenv') || existsSync('/run/.containerenv')
  return [
    ...(inContainer
      ? [
          'running inside a container. If this container is your security boundary, choose the backend "external"; this program never assumes that by itself',
        ]
      : []),
    ...(process.geteuid?.() === 0
      ? ['running as root: commands run without privileges; with bubblewrap, they also get an ordinary user id']
      : []),
  ]
}
