import { existsSync } from 'node:fs'
import process from 'node:process'
import { forgetProbe, probeBubblewrap } from './bubblewrap/probe.ts'
import { SandboxError } from './errors.ts'
import { hierarchyHere } from './limits/prepare.ts'
import { planLimits, unlimitedWatches } from './limits/plan.ts'
import { defaultBackend } from './open-sandbox.ts'
import { parsePolicy } from './policy.ts'
import type { Backend } from './backend.ts'
import { unenforcedOnMacOs } from './seatbelt/refuse.ts'

/** Whether one backend can be used here; where not, why, and what would change it. */
export type BackendReport =
  | { readonly backend: Backend; readonly usable: true; readonly confines: boolean }
  | { readonly backend: Backend; readonly usable: false; readonly reason: string; readonly remedy: string }

/** What this machine can enforce. */
export type DoctorReport = {
  readonly platform: string
  /** The backend that a confining policy gets when none is named; undefined when that one can't be used. */
  readonly chosen: Backend | undefined
  readonly backends: readonly BackendReport[]
  readonly limits: {
    readonly by: 'control groups, version 1' | 'control groups, version 2' | 'process limits'
    /** Default limits that can't be enforced here. */
    readonly unenforced: readonly string[]
  }
  /** Facts about this machine that explain the rest. */
  readonly notes: readonly string[]
}

/** Finds out what can be enforced here by trying it, believing nothing remembered. */
export async function doctor(): Promise<DoctorReport> {
  await forgetProbe()
  const backends = [
    await bubblewrapReport(),
    await dockerReport(),
    await seatbeltReport(),
    { backend: 'unconfined', usable: true, confines: false } as const,
  ]
  const wanted = defaultBackend(parsePolicy({ mode: 'read-only', workspace: '/' }))
  const hierarchy = hierarchyHere()
  const plan = planLimits(
    parsePolicy({ mode: 'read-only', workspace: '/' }),
    { groups: hierarchy !== undefined, processLimit: process.geteuid?.() !== 0 },
    wanted,
  )
  return {
    platform: `${process.platform} ${process.arch}`,
    chosen: backends.find(({ backend, usable }) => backend === wanted && usable)?.backend,
    backends,
    limits: {
      by: hierarchy === undefined ? 'process limits' : `control groups, version ${hierarchy.version}`,
      unenforced: wanted === 'seatbelt' ? unenforcedOnMacOs : [...plan.unenforced, ...(await watchesHere())],
    },
    notes: notes(),
  }
}

/** A report as text for a terminal. */
export function renderDoctor(report: DoctorReport): string {
  const lines = [
    `${report.platform}: ${report.chosen === undefined ? 'no sandbox can be used' : `commands are confined by ${report.chosen}`}`,
    ...report.backends.flatMap((each) =>
      each.usable
        ? [`  ok  ${each.backend}${each.confines ? '' : ' (confines nothing; for danger-full-access only)'}`]
        : [`  no  ${each.backend}: ${each.reason}`, `      ${each.remedy}`],
    ),
    `limits: by ${report.limits.by}`,
    ...report.limits.unenforced.map((sentence) => `  ${sentence}`),
    ...report.notes.map((note) => `note: ${note}`),
  ]
  return `${lines.join('\n')}\n`
}

async function bubblewrapReport(): Promise<BackendReport> {
  const probe = await probeBubblewrap()
  return probe.works
    ? { backend: 'bubblewrap', usable: true, confines: true }
    : { backend: 'bubblewrap', usable: false, reason: probe.reason, remedy: probe.remedy }
}

/** What can't be limited of inotify, where bubblewrap works at all. */
async function watchesHere(): Promise<readonly string[]> {
  const probe = await probeBubblewrap()
  return probe.works && probe.bubblewrap.watches === undefined ? [unlimitedWatches] : []
}

async function dockerReport(): Promise<BackendReport> {
  const { checkDaemon } = await import('./docker/daemon.ts')
  try {
    await checkDaemon()
    return { backend: 'docker', usable: true, confines: true }
  } catch (error) {
    if (!SandboxError.is(error, 'unavailable')) throw error
    return { backend: 'docker', usable: false, reason: error.data.reason, remedy: error.data.remedy }
  }
}

/** Whether a docker daemon answers that can enforce policies. */
export async function isDockerUsable(): Promise<boolean> {
  return (await dockerReport()).usable
}

async function seatbeltReport(): Promise<BackendReport> {
  try {
    const { openSeatbelt } = await import('./seatbelt/open.ts')
    await (await openSeatbelt(parsePolicy({ mode: 'read-only', workspace: '/' }))).close()
    return { backend: 'seatbelt', usable: true, confines: true }
  } catch (error) {
    if (!SandboxError.is(error, 'unavailable')) throw error
    return { backend: 'seatbelt', usable: false, reason: error.data.reason, remedy: error.data.remedy }
  }
}

function notes(): readonly string[] {
  const inContainer = existsSync('/.dockerenv') || existsSync('/run/.containerenv')
  return [
    ...(inContainer ? ['this is inside a container. If it is your boundary, say so; that is never assumed.'] : []),
    ...(process.geteuid?.() === 0 ? ['running as root: commands get an ordinary user id inside the sandbox'] : []),
  ]
}
