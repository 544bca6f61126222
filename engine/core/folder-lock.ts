import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { isClaimAlive, tryToLock, type Claim } from '../../apply-patch/index.ts'

/** Who holds the lock of a folder. */
export type Holder = { readonly pid: number; readonly host: string; readonly doing: string }

/** The lock of a folder that this process holds. */
export type FolderLock = {
  /** Whether this process still holds it. If the machine was suspended for long, a process on another machine may have taken the folder over. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/**
 * How long the lock of a process that can't be looked up, because it is on another machine or in another container, is valid after it was last renewed, and how
 * often locks are renewed, in milliseconds.
 */
const [validMs, renewMs] = [120_000, 20_000]
/** How long to wait for a process that has made a claim to find out whether it holds the lock. This takes two system calls, unless that process is suspended. */
const patienceMs = 5_000

/**
 * Takes the lock of a folder: a file `NAME-OWNER` in it. The file is empty until its process has found no claim of another live process. The lock of a process that
 * has ended is void, however the process ended.
 *
 * @param doing what the process does with the folder, for messages
 * @returns the lock, or the process that holds it; `undecided` if another process has claimed it, and neither holds it nor gives up
 */
export function lockFolder(
  folder: string,
  name: string,
  doing: string,
): { readonly lock: FolderLock } | { readonly holder: Holder | 'undecided' } {
  const until = performance.now() + patienceMs
  for (let round = 1; ; round += 1) {
    const tried = tryToLock(
      (owner) => makeClaim(join(folder, `${name}-${owner}`)),
      () => claimsIn(folder, name),
      { directory: folder, doubt, retakes: true },
    )
    if ('mine' in tried) {
      const { mine, dead } = tried
      writeFileSync(mine.path, JSON.stringify({ pid: process.pid, host: hostname(), doing } satisfies Holder))
      for (const path of dead) rmSync(path, { force: true })
      return { lock: held(mine) }
    }
    const holder = holderIn(tried.alive)
    if (holder !== undefined) return { holder }
    if (performance.now() > until) return { holder: 'undecided' }
    pause(Math.random() * Math.min(5 * round, 50))
  }
}

/** Finds the process that holds the lock of a folder; undefined if nobody does. */
export function holderOf(folder: string, name: string): Holder | undefined {
  return claimsIn(folder, name)
    .filter((claim) => isClaimAlive(claim, doubt))
    .map(({ path }) => holderIn(path))
    .find((holder) => holder !== undefined)
}

/** A process of this machine under another boot is dead. */
function doubt(claim: string): { readonly forMs: number; readonly elsewhere: boolean } {
  return { forMs: validMs, elsewhere: holderIn(claim)?.host !== hostname() }
}

function makeClaim(path: string): { readonly path: string; readonly discard: () => void } {
  writeFileSync(path, '', { mode: 0o600, flag: 'wx' })
  return { path, discard: () => rmSync(path, { force: true }) }
}

function claimsIn(folder: string, name: string): readonly Claim[] {
  const prefix = `${name}-`
  return namesIn(folder)
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => ({ path: join(folder, entry), owner: entry.slice(prefix.length) }))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Reads who holds the lock by this claim; undefined if its process has not found out yet whether it does. */
function holderIn(claim: string): Holder | undefined {
  try {
    const { pid, host, doing } = JSON.parse(readFileSync(claim, 'utf8')) as Partial<Holder>
    return pid === undefined || host === undefined || doing === undefined ? undefined : { pid, host, doing }
  } catch {
    // The claim has gone, or only a part of its text is there yet.
    return undefined
  }
}

function held({ path, discard }: ReturnType<typeof makeClaim>): FolderLock {
  const isHeld = (): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
  const timer = setInterval(() => {
    const now = new Date()
    if (isHeld()) utimesSync(path, now, now)
  }, renewMs)
  timer.unref()
  return {
    isHeld,
    release: () => {
      clearInterval(timer)
      discard()
    },
  }
}

/** Waits without giving up the thread, because whoever asks for the lock must not go on without it. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
