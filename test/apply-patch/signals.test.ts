import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { moments, signalsAt } from '../support/signals-at.ts'
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

describe('a program that changes hundreds of files', () => {
  const files = Array.from({ length: 300 }, (_, index) => `*** Add File: many/${index}\n+${index}\n`)
  const patch = `*** Begin Patch\n${files.join('')}*** Delete File: f.txt\n*** End Patch\n`
  const { preparing, installing, cleaning, cleaningStill } = moments
  const whileChanging =
    /^apply-patch: interrupted while files were changing; [^\n]*\nInterrupted\.\nNothing was changed\.\n$/

  test.each([
    ['SIGINT', 130, [preparing, cleaning, cleaningStill]],
    ['SIGTERM', 143, [installing, installing]],
    ['SIGHUP', 143, [installing, cleaning]],
  ] as const)('rolls everything back after %s, and further signals change nothing', (signal, code, at) => {
    const { cwd } = makeCase({ files: { 'f.txt': 'a\n' } })
    const ended = runWith(cwd, [], patch, signalsAt(...at.map((moment) => [signal, moment] as const)))
    expect([ended.status, ended.stdout, readdirSync(cwd)]).toEqual([code, '', ['f.txt']])
    expect(ended.stderr).toMatch(whileChanging)
  })

  test('ignores signals after its point of no return', () => {
    const { cwd } = makeCase({ files: { 'f.txt': 'a\n' } })
    const env = signalsAt(['SIGINT', cleaning], ['SIGTERM', cleaning], ['SIGHUP', cleaningStill])
    const ended = runWith(cwd, [], patch, env)
    expect([ended.status, ended.stderr, readdirSync(cwd)]).toEqual([0, '', ['many']])
    expect(readdirSync(join(cwd, 'many'))).toHaveLength(300)
  })

  test('rolls an undo back after a signal', () => {
    const { cwd } = makeCase({ files: { 'f.txt': 'a\n' } })
    expect(runWith(cwd, [], patch).status).toBe(0)
    const movingAside = { call: 'renameSync', path: '', nth: 150 }
    const ended = runWith(cwd, ['undo'], '', signalsAt(['SIGINT', movingAside], ['SIGINT', movingAside]))
    expect([ended.status, ended.stdout, readdirSync(cwd)]).toEqual([130, '', ['many']])
    expect(ended.stderr).toMatch(whileChanging)
    expect(readdirSync(join(cwd, 'many'))).toHaveLength(300)
    expect([runWith(cwd, ['undo'], '').status, readdirSync(cwd)]).toEqual([0, ['f.txt']])
  })
})

function runWith(cwd: string, args: readonly string[], input: string, env: Readonly<Record<string, string>> = {}) {
  const state = { XDG_STATE_HOME: join(cwd, '../state') }
  mkdirSync(state.XDG_STATE_HOME, { recursive: true })
  return spawnSync(process.execPath, [program, ...args], { cwd, input, encoding: 'utf8', env: { ...state, ...env } })
}
