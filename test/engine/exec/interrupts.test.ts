import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

/** Runs a command that ignores the signals that ask it to end, and signals the run once the command has started. */
function interruptStubborn(cwd: string, mode: string, signals: readonly NodeJS.Signals[]): Promise<Exec> {
  const mark = `20.${process.pid}${Math.floor(Math.random() * 1e9)}`
  const cmd = `trap '' INT TERM HUP; (trap '' INT TERM HUP; sleep ${mark}; touch survived) & wait; sleep 20; touch survived`
  return exec([[call('exec_command', { cmd, timeout_ms: 60_000 })], [say('never')]], ['--json', '-s', mode, 'x'], {
    cwd,
    onStart: (child) => {
      // A command in the sandbox works on the run's view, so its process shows that it has started.
      const timer = setInterval(() => {
        if (!isRunning(mark)) return
        clearInterval(timer)
        for (const signal of signals) child.kill(signal)
      }, 20)
    },
  })
}

describe.skipIf(needsBubblewrap()).each(['workspace-write', 'danger-full-access'])('in %s', (mode) => {
  test('one signal ends a run in order, even if its command ignores the signal', async () => {
    const cwd = repository()
    const { code, events, stderr } = await interruptStubborn(cwd, mode, ['SIGINT'])
    expect(code).toBe(130)
    expect(events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'interrupted' })
    expect(events.filter(({ type }) => type === 'item.completed')).toHaveLength(1)
    expect(existsSync(join(cwd, 'survived'))).toBe(false)
    expect(stderr).toContain('! Interrupted.\ninterrupted · ')
    expect(stderr).toContain('exit code 130')
  })

  test('a second one ends the program at once, with its last event', async () => {
    const cwd = repository()
    const { code, events } = await interruptStubborn(cwd, mode, ['SIGTERM', 'SIGINT'])
    // Signals that are sent together arrive in either order.
    expect([130, 143]).toContain(code)
    expect(events.filter(({ type }) => type === 'turn.failed')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'turn.failed', exit_code: code })
    const of = (which: string): number => events.filter(({ type }) => type === which).length
    expect(of('item.completed')).toBe(of('item.started'))
    expect(existsSync(join(cwd, 'survived'))).toBe(false)
  })
})
