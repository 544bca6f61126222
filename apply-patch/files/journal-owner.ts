import { readFileSync, readlinkSync } from 'node:fs'
import { errnoOf } from './commit-error.ts'

// The files in this folder use the global `process`, because importing `node:process` evaluates all its getters, including the one for stdin, and loads their
// streams, which takes a third of the time that Node itself needs to start.

/**
 * The name of a run, as part of its journal's file name. From this name, another run can tell whether the named run is still alive. It consists of the process
 * id, start time, process id namespace, boot id and a random part, and is unique for every commit.
 */
export type OwnerId = string

/** If it can't be checked whether a run is still alive (because it is in another container, or there is no `/proc`), the run counts as dead after this time. */
const benefitOfDoubtMs = 10 * 60_000

/** The name of this run of the program, to be used for one commit. */
export function nameOwner(nonce: string): OwnerId {
  return [process.pid, startTime('self'), namespace(), bootId(), nonce].join('.')
}

/** A random text, unique to a commit, that is part of the names of the commit's temporary files and of its journal. */
export function makeNonce(): string {
  const random = Math.random().toString(36).slice(2, 10)
  return `${Date.now().toString(36)}${(process.hrtime.bigint() % 46_656n).toString(36)}${random}`
}

/** The random part of an owner's name. */
export function nonceOf(owner: OwnerId): string {
  return owner.split('.')[4] ?? ''
}

/**
 * Whether the run with this name may still be running. If that can't be determined, the run counts as running for ten minutes after it began.
 *
 * @param ageMs how many milliseconds ago the run began
 */
export function isAlive(owner: OwnerId, ageMs: number): boolean {
  const [pid = '', start = '', space = '', boot = ''] = owner.split('.')
  if (!/^[1-9]\d*$/.test(pid)) return false
  if (boot !== bootId()) return false
  if (space !== namespace()) return ageMs < benefitOfDoubtMs
  if (!processExists(Number(pid))) return false
  if (start === unknown) return ageMs < benefitOfDoubtMs
  return startTime(pid) === start
}

const unknown = 'x'

/** The start time of a process in clock ticks since boot (field 22 of `/proc/PID/stat`). Together with the process id, it identifies the process uniquely. */
function startTime(pid: string): string {
  const stat = readProc(`/proc/${pid}/stat`)
  // The command's name, which precedes these fields in parentheses, may contain any character, so the last parenthesis ends it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? unknown
}

function bootId(): string {
  return readProc('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? unknown
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? unknown
  } catch (error) {
    if (errnoOf(error) !== undefined) return unknown
    throw error
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    // This isn't Linux, /proc is not mounted, or the process no longer exists.
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists, and belongs to another user.
    return errnoOf(error) !== 'ESRCH'
  }
}
