import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readReport } from '../../sandbox/bubblewrap/start-report.ts'

/** The engine's end of a socket pair. The program at the other end has exited, so every write fails with EPIPE. */
function endOfEnded(answers: string[]): Duplex {
  return new Duplex({
    read: () => undefined,
    write: (chunk, _, done) => {
      answers.push(String(chunk))
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }))
    },
  })
}

test('a program that ended after its mark has not started the command, even if its report is lost', async () => {
  const end = endOfEnded([])
  const report = readReport(end)
  end.push('!')
  await expect(report.failure(13)).resolves.toMatchObject({
    code: 'setup-failed',
    message: expect.stringContaining('permission denied'),
  })
})

test('a report that arrives right after the mark is read, and gets no answer', async () => {
  const answers: string[] = []
  const end = endOfEnded(answers)
  const report = readReport(end)
  end.once('data', () => setImmediate(() => end.push('can’t give up')))
  end.push('!')
  await sleep(20)
  end.push(null)
  end.end()
  await expect(report.failure(1)).resolves.toMatchObject({
    message: expect.stringContaining('operation not permitted'),
  })
  expect(answers).toEqual([])
})

test('a program that was killed is no failure of the sandbox', async () => {
  const end = endOfEnded([])
  const report = readReport(end)
  end.push('!')
  await expect(report.failure(137)).resolves.toBeUndefined()
})
