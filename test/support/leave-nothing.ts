import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { afterAll } from 'vitest'

/**
 * A test that fails may leave a process behind that never ends. It would hold the standard error of the tests' own process, which vitest then waits
 * for without end. What a file's tests started is therefore killed after them.
 */
afterAll(() => {
  if (process.platform !== 'linux') return
  for (const task of readdirSync('/proc/self/task'))
    for (const child of readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean))
      kill(Number(child))
})

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
