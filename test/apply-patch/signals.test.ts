import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../sandbox/helpers.ts'
import { makeCase } from './case-tools.ts'

const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname

test.skipIf(process.platform !== 'linux').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends a program that waits for a patch on a silent pipe',
  async (signal) => {
    const { cwd } = makeCase({ files: { 'f.txt': 'a\n' } })
    // Nobody writes to this pipe or closes it.
    const pipe = join(cwd, '../pipe')
    execFileSync('mkfifo', [pipe])
    const silent = openSync(pipe, 'r+')
    const child = spawn(process.execPath, [program], { cwd, stdio: [silent, 'pipe', 'pipe'] })
    onTestFinished(() => {
      child.kill('SIGKILL')
      closeSync(silent)
    })
    const stderr: string[] = []
    child.stderr?.setEncoding('utf8').on('data', (text: string) => void stderr.push(text))
    const ended = new Promise((resolve) => child.once('close', (_, by) => resolve(by)))
    await eventually(() => isReading(child.pid ?? 0))
    child.kill(signal)
    // The process is killed by the signal itself. A shell would report 128 plus the signal's number.
    expect([await ended, stderr, readdirSync(cwd)]).toEqual([signal, [], ['f.txt']])
  },
)

/** Whether a process is waiting in read(2) for its standard input. See `syscall` in proc(5); the number of the call depends on the processor. */
function isReading(pid: number): boolean {
  const read = process.arch === 'arm64' ? '63' : '0'
  return readFileSync(`/proc/${pid}/syscall`, 'latin1').startsWith(`${read} 0x0 `)
}
