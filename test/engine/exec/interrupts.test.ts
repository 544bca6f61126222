import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

/** Runs a command that ignores the signals that ask it to end, and signals the run once the command has started. */
function interruptStubborn(cwd: string, mode: string, signals: readonly NodeJS.Signals[]): Promise<Exec> {
  const cmd = `trap '' INT TERM HUP; touch started; (trap '' INT TERM HUP; sleep 20; touch survived) & wait; sleep 20; touch survived`
  return exec([[call('exec_command', { cmd, timeout_ms: 60_000 })], [say('never')]], ['--json', '-s', mode, 'x'], {
    cwd,
    onStart: (child) => {
      const timer = setInterval(() => {
        if (!existsSync(join(cwd, 'started'))) return
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
    expect(stderr).toContain('commands run: 1 (1 failed)')
  })

  test('a second one ends the program at once', async () => {
    const cwd = repository()
    const { code } = await interruptStubborn(cwd, mode, ['SIGTERM', 'SIGINT'])
    // Signals that are sent together arrive in either order.
    expect([130, 143]).toContain(code)
    expect(existsSync(join(cwd, 'survived'))).toBe(false)
  })
})
