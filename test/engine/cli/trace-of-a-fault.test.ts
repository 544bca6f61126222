import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

/** Runs `agent sandbox` with a `process.geteuid` that throws an error that our code doesn't expect. Returns what it prints on standard error. */
function saidOfAFault(env: NodeJS.ProcessEnv): string {
  const home = mkdtempSync(join(tmpdir(), 'fault-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const fault = 'data:text/javascript,process.geteuid=()=>{throw new Error("no such system call")}'
  const words = ['--import', fault, program, 'sandbox', '-C', home, '--', 'true']
  return spawnSync(process.execPath, words, { env: { HOME: home, ...env }, encoding: 'utf8' }).stderr
}

test('a fault is reported in one line, without a stack trace', () => {
  expect(saidOfAFault({})).toMatch(/^agent: internal error: no such system call\. .*\n$/)
})

test('on request, the stack trace of a fault names the lines of our sources', () => {
  const [, error, ...frames] = saidOfAFault({ PORTCULLIS_DEBUG: '1' }).trimEnd().split('\n')
  expect(error).toBe('Error: no such system call')
  expect(frames[1]).toMatch(/^ +at .*\b(?:sandbox|engine)\/[\w/-]+\.ts:\d+:\d+\)?$/)
  expect(frames.join('\n')).not.toContain('sandbox-main.js')
})
