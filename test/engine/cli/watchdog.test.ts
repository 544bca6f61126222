import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'

const watchdog = new URL('../../../engine/cli/time-limit-watchdog.ts', import.meta.url).href

/** Runs `code` in a process with a watchdog that waits for 200 ms, and returns the outcome. */
function watched(code: string) {
  const options = { after: 200, events: '{"type":"turn.failed"}\n', message: 'killed\n' }
  const script = `import { startWatchdog } from ${JSON.stringify(watchdog)}
const calm = startWatchdog(${JSON.stringify(options)})
${code}`
  const { stdout, stderr, signal, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { stdout, stderr, signal, status }
}

test('a time limit holds even if the event loop is blocked: the last event is written and the process is killed', () => {
  expect(watched('for (;;);')).toEqual({
    stdout: '{"type":"turn.failed"}\n',
    stderr: 'killed\n',
    signal: 'SIGKILL',
    status: null,
  })
})

test('a run that ends in time, or has stopped its watchdog, is left alone', () => {
  const untouched = { stdout: '', stderr: '', signal: null, status: 0 }
  expect(watched('')).toEqual(untouched)
  expect(watched('calm(); const end = Date.now() + 4000; while (Date.now() < end);')).toEqual(untouched)
})

test('a run that is ending soon after its limit is left alone', () => {
  expect(watched('setTimeout(() => process.exit(4), 900)')).toEqual({ stdout: '', stderr: '', signal: null, status: 4 })
})
