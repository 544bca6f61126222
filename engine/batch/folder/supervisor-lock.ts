import { hostname } from 'node:os'
import { join } from 'node:path'
import { rmSync, statSync, utimesSync } from 'node:fs'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import { isProcessAlive, startOf } from '../../session/session-lock.ts'
import { readIfThere, writeOnce } from './files.ts'

const lease = z.object({ host: z.string(), pid: z.int(), started: z.string().optional() })

/** A lease of another machine is valid for this time after each renewal. */
const leaseMs = 120_000
const renewMs = 20_000

/** A supervisor's hold on its batch folder. */
type Lease = {
  /** Whether it is still valid: if a machine stood still for longer than a lease lasts, another process may have taken the folder. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/**
 * Takes the batch's folder for this process: two supervisors together would exceed its limits. A lease whose process has ended is invalid. For
 * another machine's process that can't be checked here, so its lease is valid until it was not renewed for two minutes.
 *
 * @throws UserError `usage` that names who supervises the batch
 */
export function leaseFolder(folder: string, pid: number): Lease {
  const file = join(folder, 'supervisor.json')
  const own = JSON.stringify({ host: hostname(), pid, started: startOf(pid) })
  for (let tries = 0; !writeOnce(file, own, pid); tries++) {
    const owner = ownerOf(file)
    if ((owner !== undefined && isAlive(file, owner)) || tries > 3) {
      const who = owner === undefined ? 'another process' : `process ${owner.pid} of ${owner.host}`
      throw new UserError('usage', `${folder} is supervised by ${who}. agent batch status shows its progress.`)
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

/** Whether somebody supervises a batch now. */
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
