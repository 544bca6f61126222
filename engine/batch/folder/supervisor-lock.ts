import { hostname } from 'node:os'
import { join } from 'node:path'
import { rmSync, statSync, utimesSync } from 'node:fs'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import { isProcessAlive, startOf } from '../../session/session-lock.ts'
import { readIfThere, writeOnce } from './files.ts'

const lease = z.object({ host: z.string(), pid: z.int(), started: z.string().optional() })

/**
 * How long a lease is valid after it was last renewed, in milliseconds. This matters only if the process that holds the lease is on another machine.
 */
const leaseMs = 120_000
const renewMs = 20_000

/** A supervisor's lease on the folder of its batch. */
type Lease = {
  /**
   * Whether this process still holds the lease. If this machine was suspended for longer than a lease is valid, a process on another machine may have
   * taken over the folder.
   */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/**
 * Takes a lease on the batch's folder, because two supervisors together would exceed the batch's limits. A lease becomes invalid when its process has ended. If
 * the process is on another machine, this can't be checked, and its lease becomes invalid when it hasn't been renewed for two minutes.
 *
 * @param pid the process that takes the lease
 * @throws UserError `usage` if another process supervises the batch or takes the lease first; the message names that process, if it is known
 */
export function leaseFolder(folder: string, pid: number): Lease {
  const file = join(folder, 'supervisor.json')
  const own = JSON.stringify({ host: hostname(), pid, started: startOf(pid) })
  for (let tries = 0; !writeOnce(file, own, pid); tries++) {
    const owner = ownerOf(file)
    if ((owner !== undefined && isAlive(file, owner)) || tries > 3) {
      const who = owner === undefined ? 'another process' : `process ${owner.pid} of ${owner.host}`
      throw new UserError('usage', `${folder} is supervised by ${who}. To see its progress, run agent batch status.`)
    }
    rmSync(file, { force: true })
  }
  const isHeld = (): boolean => readIfThere(file) === own
  const timer = setInterval(() => {
    const now = new Date()
    if (isHeld()) utimesSync(file, now, now)
  }, renewMs)
  timer.unref()
  return {
    isHeld,
    release: () => {
      clearInterval(timer)
      if (isHeld()) rmSync(file, { force: true })
    },
  }
}

/** Whether a process supervises the batch now. */
export function isSupervised(folder: string): boolean {
  const file = join(folder, 'supervisor.json')
  const owner = ownerOf(file)
  return owner !== undefined && isAlive(file, owner)
}

function ownerOf(file: string): z.infer<typeof lease> | undefined {
  const text = readIfThere(file)
  if (text === undefined) return undefined
  try {
    return lease.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function isAlive(file: string, owner: z.infer<typeof lease>): boolean {
  if (owner.host === hostname()) return isProcessAlive(owner)
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs < leaseMs
}
