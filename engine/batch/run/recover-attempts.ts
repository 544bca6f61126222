import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { isProcessAlive } from '../../../apply-patch/index.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readIfThere } from '../folder/files.ts'
import type { Trial } from '../trials.ts'
import { finishAttempt } from './finish-attempt.ts'

/** How long a run may take to end by itself after its supervisor has died, in milliseconds. */
const graceMs = 30_000
const lookMs = 100

const owner = z.object({ pid: z.int(), started: z.string().optional() })

/**
 * Records the outcomes of attempts that a killed supervisor left without a result. The facts come from the logs of their sessions. A run that is
 * still running ends by itself, because it has lost its supervisor; this function waits for that, and kills the run if it takes too long.
 *
 * @param kill kills a process at once
 * @returns the number of attempts whose end was recorded
 */
export async function recoverAttempts(
  folder: BatchFolder,
  trials: readonly Trial[],
  kill: (pid: number) => void,
): Promise<number> {
  let found = 0
  for (const { key } of trials) {
    for (const attempt of folder.attempts(key)) {
      if (folder.attemptOf(key, attempt) !== undefined) continue
      await untilGone(join(folder.attemptPath(key, attempt), 'process.json'), kill)
      await finishAttempt(folder, key, attempt, { exitCode: 'unseen' })
      found += 1
    }
  }
  return found
}

async function untilGone(file: string, kill: (pid: number) => void): Promise<void> {
  const known = owner.safeParse(parseJson(readIfThere(file) ?? ''))
  if (!known.success) return
  for (let waited = 0; isProcessAlive(known.data); waited += lookMs) {
    if (waited >= graceMs) kill(known.data.pid)
    await sleep(lookMs)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
