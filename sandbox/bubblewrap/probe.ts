import { release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from '../host-paths.ts'
import { readHostFile } from '../host-files.ts'
import { makeDirectories } from '../make-directories.ts'
import { cacheDirectory } from '../app-directories.ts'
import { installAdvice } from './diagnose-bubblewrap.ts'
import { SandboxError } from '../sandbox-error.ts'
import { locateBubblewrap } from './locate.ts'
import { unlimitedWatches } from '../limits/plan-limits.ts'
import { nameFence, unenforcedWith } from '../second-fence.ts'
import type { Bubblewrap, Probe } from './try-bubblewrap.ts'

/**
 * What is stored on disk about a successful trial. It is checked without a schema, because loading a schema library would take longer than the rest
 * of the probe.
 */
type Remembered = { readonly key: string } & Omit<Bubblewrap, 'program'>

let known: Promise<Probe> | undefined

/**
 * Tests whether bubblewrap can confine commands here. A success is remembered in this process, and on disk until bwrap or the kernel changes or the
 * machine is rebooted. After a failure, the next process tries again, since somebody may have fixed the cause.
 */
export function probeBubblewrap(): Promise<Probe> {
  known ??= probe()
  return known
}

/** Finds a bwrap that works here. Throws `unavailable` if there is none. */
export async function requireBubblewrap(): Promise<Bubblewrap> {
  const probe = await probeBubblewrap()
  if (probe.works) return probe.bubblewrap
  const { reason, remedy } = probe
  throw new SandboxError('unavailable', { backend: 'bubblewrap', reason, remedy, cannotStart: true })
}

/** What bubblewrap can't enforce on this machine, as sentences for a run's summary. */
export function unenforcedBy({ watches, fence }: Bubblewrap): readonly string[] {
  return [...(watches === undefined ? [unlimitedWatches] : []), ...unenforcedWith(nameFence(fence))]
}

/** Forgets, in this process and on disk, that bwrap has worked. Called if bwrap fails nevertheless, and before a test that must not rely on it. */
export function forgetProbe(): void {
  known = undefined
  removeIfThere(memoryFile())
}

async function probe(): Promise<Probe> {
  const program = process.platform === 'linux' ? locateBubblewrap() : undefined
  if (program === undefined) {
    return { works: false, reason: 'the program bwrap is not installed', remedy: installAdvice(process.platform) }
  }
  const key = machineKey(program)
  const remembered = recall(key)
  if (remembered !== undefined) {
    const { watches, fence, overlays } = remembered
    return { works: true, bubblewrap: { program, watches, fence, overlays } }
  }
  // The trial is imported only now, because it isn't needed after a remembered success.
  const { tryBubblewrap } = await import('./try-bubblewrap.ts')
  const result = await tryBubblewrap(program)
  if (result.works) {
    const { program: _, ...found } = result.bubblewrap
    remember({ key, ...found })
  }
  return result
}

/** The version of the trial. Increment it whenever the trial changes, because the success of an older trial then proves nothing. */
const trialVersion = 9

/** The key of a trial's result: the trial's version, bwrap's file, the kernel's version, the boot id, the user id and where temporary data is. */
function machineKey(program: string): string {
  const { size, mtimeMs, mode } = statSync(program)
  return [trialVersion, program, size, mtimeMs, mode, release(), bootId(), process.geteuid?.(), tmpdir()].join(' ')
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Without a boot id, a reboot changes the key only if it changes the kernel's version.
    return ''
  }
}

function memoryFile(): string {
  return join(cacheDirectory(), 'bubblewrap.json')
}

function recall(key: string): Remembered | undefined {
  try {
    const remembered = rememberedIn(JSON.parse(readHostFile(memoryFile(), { follow: true })?.toString() ?? ''))
    return remembered?.key === key ? remembered : undefined
  } catch {
    // The record is missing or damaged, so the trial is repeated. It takes little time.
    return undefined
  }
}

function rememberedIn(value: unknown): Remembered | undefined {
  if (typeof value !== 'object' || value === null || !('key' in value) || typeof value.key !== 'string')
    return undefined
  if (!('fence' in value) || !isInteger(value.fence)) return undefined
  if (!('overlays' in value) || typeof value.overlays !== 'boolean') return undefined
  const { key, fence, overlays } = value
  if (!('watches' in value)) return { key, watches: undefined, fence, overlays }
  const limits = value.watches
  if (typeof limits !== 'object' || limits === null || !('instances' in limits) || !('watches' in limits))
    return undefined
  const { instances, watches } = limits
  if (!isInteger(instances) || !isInteger(watches)) return undefined
  return { key, watches: { instances, watches }, fence, overlays }
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function remember(value: Remembered): void {
  const file = memoryFile()
  const fresh = `${file}.${process.pid}`
  try {
    makeDirectories(dirname(file))
    writeFileSync(fresh, JSON.stringify(value), { mode: 0o600 })
    renameSync(fresh, file)
  } catch {
    // Perhaps the home directory isn't writable. The next process then has to repeat the trial; nothing else is lost.
    removeIfThere(fresh)
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // If there is no directory for the record (for example, because the home is not a directory), nothing was remembered.
  }
}
