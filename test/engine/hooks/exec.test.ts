import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { commands } from './hooks-support.ts'
import { done, items, run, toldModel, withHooks } from './run-support.ts'

describe.skipIf(needsBubblewrap())('hooks around a run', () => {
  test('a refusal by a hook prevents the command, and the model reads the reason', async () => {
    const ended = await withHooks({ PreToolUse: [commands('Bash', 'echo "not on Sundays" >&2; exit 2')] }, [
      run('touch ran'),
      done,
    ])
    expect(ended.code).toBe(0)
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    expect(toldModel(ended)).toContain('not on Sundays')
    expect(items(ended)).toMatchObject([
      { type: 'hook', event: 'PreToolUse', status: 'blocked', message: 'not on Sundays' },
      { type: 'tool_call', status: 'declined', verdict: { decision: 'deny', decided_by: 'hook' } },
      { type: 'agent_message' },
    ])
  })

  test('a guard that is missing forbids', async () => {
    const ended = await withHooks({ PreToolUse: [commands('Bash', '/nowhere/guard')] }, [run('touch ran'), done])
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    expect(toldModel(ended)).toContain('A guard hook that fails blocks the action that it guards')
  })

  test('a command that a hook changes runs as changed, and is judged as such', async () => {
    const change = (command: string) =>
      `cat > /dev/null; echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command } } })}'`
    const changed = await withHooks({ PreToolUse: [commands('Bash', change('touch other'))] }, [run('touch one'), done])
    expect([existsSync(join(changed.cwd, 'one')), existsSync(join(changed.cwd, 'other'))]).toEqual([false, true])
    const judged = await withHooks({ PreToolUse: [commands('Bash', change('sudo touch other'))] }, [
      run('touch one'),
      done,
    ])
    expect(items(judged).find(({ type }) => type === 'command_execution')).toMatchObject({ status: 'declined' })
  })

  test("a hook's allow lifts no rule", async () => {
    const allow = `echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}'`
    const rules = 'prefix_rule(pattern = ["touch"], decision = "forbidden")\n'
    const ended = await withHooks({ PreToolUse: [commands('Bash', allow)] }, [run('touch ran'), done], {
      files: { '.config/portcullis/rules/own.rules': rules },
    })
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
  })

  test('a hook’s ask means no if nobody can answer', async () => {
    const ask = `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look at this"}}'`
    const ended = await withHooks({ PreToolUse: [commands('Bash', ask)] }, [run('touch ran'), done])
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    expect(toldModel(ended)).toContain('look at this')
  })

  test('a PermissionRequest hook answers instead of a person', async () => {
    const allow = `echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'`
    const args = ['--ask-for-approval', 'untrusted']
    const ended = await withHooks({ PermissionRequest: [commands('Bash', allow)] }, [run('touch ran'), done], { args })
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(true)
    const without = await withHooks({}, [run('touch ran'), done], { args })
    expect(existsSync(join(without.cwd, 'ran'))).toBe(false)
  })

  test('a PermissionRequest hook can end the run with its refusal', async () => {
    const args = ['--ask-for-approval', 'untrusted']
    for (const output of [
      { hookSpecificOutput: { decision: { behavior: 'deny', message: 'enough for today', interrupt: true } } },
      { continue: false, stopReason: 'enough for today' },
    ]) {
      const halt = commands('Bash', `cat > /dev/null; echo '${JSON.stringify(output)}'`)
      const ended = await withHooks({ PermissionRequest: [halt] }, [run('touch ran'), done], { args })
      expect([ended.code, ended.requests.length]).toEqual([3, 1])
      expect(ended.stderr).toContain('enough for today')
      expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    }
  })

  test('a PostToolUse hook replaces what the model reads, with the newer and the older name of the field', async () => {
    for (const field of ['updatedToolOutput', 'updatedMCPToolOutput']) {
      const replace = `echo '{"hookSpecificOutput": {"${field}": "[left out]"}}'`
      const ended = await withHooks({ PostToolUse: [commands('Bash', replace)] }, [run('echo the-secret'), done])
      expect(toldModel(ended)).toContain('[left out]')
      expect(toldModel(ended)).not.toContain('the-secret\\n')
    }
  })

  test('output of hooks at the start and at the prompt reaches the model', async () => {
    const ended = await withHooks(
      {
        SessionStart: [commands('startup', 'echo "the build is red"')],
        UserPromptSubmit: [commands(undefined, 'echo "be brief"')],
      },
      [done],
    )
    expect(toldModel(ended)).toContain('the build is red')
    expect(toldModel(ended)).toContain('be brief')
  })

  test('a prompt that a hook refuses is never sent', async () => {
    const ended = await withHooks({ UserPromptSubmit: [commands(undefined, 'echo "no secrets" >&2; exit 2')] }, [done])
    expect([ended.code, ended.requests.length]).toEqual([3, 0])
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', exit_code: 3 })
    expect(ended.stderr).toContain('no secrets')
  })

  test('a Stop hook sends the model back to work, and knows that it did', async () => {
    const stop = `grep -q '"stop_hook_active":true' || { echo "run the tests first" >&2; exit 2; }`
    const ended = await withHooks({ Stop: [commands(undefined, stop)] }, [done, [say('tests are green')]])
    expect([ended.code, ended.requests.length]).toEqual([0, 2])
    expect(toldModel(ended)).toContain('run the tests first')
  })

  test('a hook that says continue: false ends the run', async () => {
    const halt = `echo '{"continue": false, "stopReason": "budget review"}'`
    const ended = await withHooks({ PostToolUse: [commands('Bash', halt)] }, [run('true'), done])
    expect([ended.code, ended.requests.length]).toEqual([3, 1])
    expect(ended.stderr).toContain('budget review')
  })

  test('a hook for an unknown event is reported', async () => {
    const ended = await withHooks({ TeammateIdle: [commands(undefined, 'true')] }, [done])
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('Portcullis has no event TeammateIdle')
  })

  test('a fault in a settings file stops the run before anything happens', async () => {
    const home = tempDir({ '.claude/settings.json': '{"hooks": {"PreToolUse": [\n{"hooks": [{"type": "comand"}]}]}}' })
    const ended = await exec([done], ['go'], { cwd: repository(), home })
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
    expect(ended.stderr).toContain(`${home}/.claude/settings.json:2:`)
  })

  test('a repository’s hooks run if it is trusted, and are reported as ignored otherwise', async () => {
    const settings = JSON.stringify({ hooks: { PreToolUse: [commands('Bash', 'touch hooked')] } })
    for (const [args, hooked] of [
      [['--trust'], true],
      [[], false],
    ] as const) {
      const cwd = repository({ '.claude/settings.json': settings })
      const ended = await exec([run('true'), done], ['--json', ...args, 'go'], { cwd, home: tempDir() })
      expect(existsSync(join(cwd, 'hooked'))).toBe(hooked)
      expect(ended.stderr.includes('.claude/settings.json')).toBe(!hooked)
    }
  })

  test('a hook’s message for the user is shown', async () => {
    const said = `echo '{"systemMessage": "three tests are skipped"}'`
    const ended = await withHooks({ PostToolUse: [commands('Bash', said)] }, [run('true'), done])
    expect(ended.stderr).toContain('three tests are skipped')
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'hook', status: 'completed', message: 'three tests are skipped' }),
    )
  })

  test('a hook for an agent’s call is told which agent it is', async () => {
    const note = 'cat >> seen.txt; echo >> seen.txt'
    const hand = [call('agent', { title: 'work', prompt: 'do it' }), call('wait_agents', {})]
    const replies = (index: number) => (index === 0 ? hand : index === 1 ? run('true') : done)
    const ended = await withHooks({ PreToolUse: [commands('Bash', note)] }, replies)
    expect(JSON.parse(readFileSync(join(ended.cwd, 'seen.txt'), 'utf8').split('\n')[0] ?? '')).toMatchObject({
      tool_name: 'Bash',
      agent_id: 'agent-1',
      agent_type: 'general',
    })
  })

  test('an asyncRewake hook delays nothing, and its objection sends the model back to work', async () => {
    const command = 'until [ -e checked ]; do sleep 0.05; done; echo "the build broke" >&2; exit 2'
    const handler = { type: 'command', command, asyncRewake: true, once: true }
    const replies = [run('true'), run('touch checked'), done, [say('mended')]]
    const ended = await withHooks({ PostToolUse: [{ matcher: 'Bash', hooks: [handler] }] }, replies)
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.requests.length).toBeGreaterThan(2)
    expect(toldModel(ended)).toContain('the build broke')
  })

  for (const event of ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']) {
    test(`the time limit of a run holds while a ${event} hook runs, and the end is still reported`, async () => {
      const hooks = {
        [event]: [commands(undefined, 'touch begun; sleep 600')],
        SessionEnd: [commands(undefined, 'touch ended')],
      }
      const ended = await withHooks(hooks, [run('true'), done], { args: ['--timeout', '4', '--land', 'always'] })
      expect([ended.code, existsSync(join(ended.cwd, 'begun'))], ended.stderr).toEqual([4, true])
      expect(existsSync(join(ended.cwd, 'ended'))).toBe(true)
    })
  }
})
