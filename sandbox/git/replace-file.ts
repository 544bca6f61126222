import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { HeldDirectory } from './held-directory.ts'

const largestIndex = 1024 * 1024 * 1024
const lockWaitMs = 2000
const asNewFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * The result of replacing a file that git locks. `moved`: the content was not the expected one, so nothing was replaced. `locked`: another program
 * held the lock.
 */
export type Replaced = 'done' | 'moved' | 'locked'

/**
 * Calls a function while this program holds `NAME.lock`, as git does. If another program holds that lock, waits for a while and then returns
 * `locked`. Never removes the other program's lock.
 *
 * @param act returns whether it renamed the lock file, which must then not be removed
 */
export async function withLock(
  host: HeldDirectory,
  name: string,
  act: (descriptor: number, lock: Buffer | string) => boolean,
): Promise<'done' | 'locked'> {
  const lock = host.at(`${name}.lock`)
  mkdirSync(host.at(dirname(name)), { recursive: true })
  let descriptor: number | undefined
  for (const until = Date.now() + lockWaitMs; descriptor === undefined;) {
    try {
      descriptor = openSync(lock, asNewFile, 0o644)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (Date.now() >= until) return 'locked'
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  let taken = false
  try {
    taken = act(descriptor, lock)
    return 'done'
  } finally {
    closeSync(descriptor)
    if (!taken) rmSync(lock, { force: true })
  }
}

/**
 * Replaces a file on the host, but only if it has the expected content.
 *
 * @param next gets the current content and returns the new one; undefined if the current content isn't the expected one
 */
export async function replaceLocked(
  host: HeldDirectory,
  name: string,
  next: (now: Buffer | undefined) => Buffer | undefined,
): Promise<Replaced> {
  let content: Buffer | undefined
  const held = await withLock(host, name, (descriptor, lock) => {
    content = next(host.read(name, largestIndex))
    if (content === undefined) return false
    writeAll(descriptor, content)
    renameSync(lock, host.at(name))
    return true
  })
  return held === 'locked' ? held : content === undefined ? 'moved' : 'done'
}

/** Replaces a file on the host atomically. If git locks the file, the caller must hold the lock. */
export function replaceFile(host: HeldDirectory, name: string, content: Buffer): void {
  mkdirSync(host.at(dirname(name)), { recursive: true })
  const beside = host.at(`${name}.portcullis`)
  rmSync(beside, { force: true })
  const descriptor = openSync(beside, asNewFile, 0o644)
  try {
    writeAll(descriptor, content)
  } finally {
    closeSync(descriptor)
  }
  renameSync(beside, host.at(name))
}

function writeAll(descriptor: number, content: Buffer): void {
  for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at)
}
