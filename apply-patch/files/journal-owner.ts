import { readlinkSync } from 'node:fs'
import { errnoOf } from './commit-error.ts'
import { isProcessAlive, readProc, startOf } from './process-alive.ts'

/**
 * The name of a holder of a lock, as part of the file name of its claim (for a commit, of its journal). From this name, another process can tell whether the holder
 * is still alive. It consists of the process id, start time, process id namespace, boot id and a random part, and is unique for every claim.
 */
export type OwnerId = string

/** Names this process, to be used for one claim. */
export function nameOwner(nonce: string): OwnerId {
  return [...ownWords(), nonce].join('.')
}

function ownWords(): readonly string[] {
  return [String(process.pid), startOf('self') ?? unknown, namespace(), bootId()]
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

/** Whether the claim was made by this process, possibly before it replaced its program by another (execve(2)). */
export function isOwn(owner: OwnerId): boolean {
  return ownWords().every((word, at) => owner.split('.')[at] === word)
}

/** What is assumed of an owner whose process can't be looked up. */
export type Doubt = {
  /** For how many milliseconds after its claim was made, or renewed, an owner counts as alive. */
  readonly forMs: number
  /** Whether an owner under another boot of a kernel may run on another machine. Otherwise it died with that boot. */
  readonly elsewhere: boolean
}

/**
 * Whether the owner with this name may still be running. If that can't be determined, because it runs in another container or on another machine, or because there
 * is no `/proc`, the doubt decides.
 *
 * @param ageMs how many milliseconds ago the claim was made or renewed
 */
export function isAlive(owner: OwnerId, ageMs: number, { forMs, elsewhere }: Doubt): boolean {
  const [pid = '', start = '', space = '', boot = ''] = owner.split('.')
  if (!/^[1-9]\d*$/.test(pid)) return false
  if (boot !== bootId()) return elsewhere && ageMs < forMs
  if (space !== namespace()) return ageMs < forMs
  if (!isProcessAlive({ pid: Number(pid) })) return false
  if (start === unknown) return ageMs < forMs
  return startOf(Number(pid)) === start
}

/** The id of the process with this name; undefined if it is in another container, where its id means another process or none. */
export function processOf(owner: OwnerId): number | undefined {
  const [pid = '', , space = ''] = owner.split('.')
  return space === namespace() && space !== unknown ? Number(pid) : undefined
}

const unknown = 'x'

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
