import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { batchPlace, type BatchPlace } from './batch.ts'
import type { TestRedis } from './redis.ts'

/** A worker of a test's batch. */
export type Worker = { readonly pid: () => number; readonly ended: Promise<{ readonly stderr: string }> }

/** Starts a worker as soon as there is a batch to work on. By default, it performs one run at a time. It is killed when the test ends. */
export async function startWorker(place: BatchPlace, redis: TestRedis, ...more: readonly string[]): Promise<Worker> {
  while (!existsSync(join(place.out, 'batch.json'))) await sleep(50)
  let pid = 0
  const ended = place.run(['worker', '--queue', redis.url, '--store', 'out', '-w', '1', ...more], {
    onStart: (child) => (pid = child.pid ?? 0),
  })
  onTestFinished(async () => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended.
    }
    await ended
  })
  return { pid: () => pid, ended }
}

/** Starts a worker that shares nothing with the coordinator but Redis. It is killed when the test ends. */
export function startFarWorker(redis: TestRedis, ...more: readonly string[]): Worker & { said: () => string } {
  const far = batchPlace({})
  let [pid, said] = [0, '']
  const ended = far.run(['worker', '--queue', redis.url, '-w', '1', '--lock-seconds', '4', ...more], {
    onStart: (child) => {
      pid = child.pid ?? 0
      child.stderr?.on('data', (text: string) => (said += text))
    },
  })
  onTestFinished(async () => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended.
    }
    await ended
  })
  return { pid: () => pid, ended, said: () => said }
}
