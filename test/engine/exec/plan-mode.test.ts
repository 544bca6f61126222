import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const run = (cmd: string, more: object = {}) => call('exec_command', { cmd, ...more })
const enter = [call('enter_plan_mode', {})]
const exit = (plan = '1. touch made') => [call('exit_plan_mode', { plan })]
const touch = [run('touch made')]
const done = [say('done')]
const patch = freeform('apply_patch', '*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\n')

const items = ({ events }: Exec) => events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
const states = (ended: Exec) => items(ended).flatMap((item) => (item.type === 'plan_mode' ? [item.state] : []))
/** The last request to the model, which contains all results. */
const told = ({ requests }: Exec): string => JSON.stringify(requests.at(-1)?.body)

function planning(replies: readonly Reply[], args: readonly string[] = [], cwd = repository(), home = tempDir()) {
  return exec(replies, ['--json', '--plan', ...args, 'x'], { cwd, home })
}

describe.skipIf(needsBubblewrap())('a run in plan mode', () => {
  test('reads and searches as usual', async () => {
    const cwd = repository({ 'a.txt': 'the content\n' })
    const ended = await planning([[call('read_file', { path: 'a.txt' }), run('cat a.txt | head -1')], done], [], cwd)
    expect(ended.code).toBe(0)
    expect(told(ended).split('the content')).toHaveLength(3)
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'command_execution', status: 'completed', exit_code: 0 }),
    )
  })

  test.each([
    ['a command that writes', run('touch made')],
    ['a command of which nobody knows what it does', run('make')],
    ['a command that asks for more than the sandbox', run('cat a', { sandbox_permissions: 'require_escalated' })],
    ['a patch', patch],
    ['a patch in a command', run("apply_patch <<'E'\n*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\nE")],
    ['a file written', call('write_file', { path: 'made', content: 'x' })],
    ['JavaScript', call('js_repl', { code: '1 + 1' })],
    ['a page of the web', call('web_fetch', { url: 'http://127.0.0.1:9/' })],
  ])('%s is refused, with plan mode named as the reason', async (_, what) => {
    const cwd = repository()
    const home = tempDir()
    const ended = await planning([[what], done], ['-c', 'sandbox_workspace_write.network_access=true'], cwd, home)
    expect(ended.code).toBe(0)
    expect(existsSync(join(cwd, 'made'))).toBe(false)
    expect(told(ended)).toContain('Plan mode is on, so nothing may be changed')
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 1 })
    const [started] = ended.events
    const folder = started?.type === 'thread.started' ? started.config.session_dir : ''
    const last = JSON.parse(readFileSync(join(folder, 'audit.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '') as object
    expect(last).toMatchObject({ verdict: { decision: 'deny', decidedBy: 'plan-mode' } })
  })

  test('no rule, permission, hook or bypass lifts it', async () => {
    const cwd = repository()
    const allow = `echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}'`
    const home = tempDir({
      '.config/portcullis/rules/own.rules': 'prefix_rule(pattern = ["touch"], decision = "allow")\n',
      '.config/portcullis/config.toml': 'import = ["claude"]\n',
      '.claude/settings.json': JSON.stringify({
        permissions: { allow: ['Bash(touch:*)'] },
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: allow }] }] },
      }),
    })
    for (const args of [[], ['--dangerously-bypass-approvals-and-sandbox'], ['--approval-program', 'cat']]) {
      const ended = await planning([touch, done], args, cwd, home)
      expect(told(ended)).toContain('Plan mode is on')
    }
    expect(existsSync(join(cwd, 'made'))).toBe(false)
  })

  test('a user’s tool that is not declared read-only is refused', async () => {
    const tool = (name: string, more: string) => `
      import * as z from ${JSON.stringify(import.meta.resolve('zod'))}
      import { defineTool } from ${JSON.stringify(new URL('../../../dist/engine/index.js', import.meta.url).href)}
      export default defineTool({ name: '${name}', description: '${name}', input: z.object({}), ${more}
        run: async () => ({ ok: true, output: '${name} has run' }) })
    `
    const tools = tempDir({ 'acts.mjs': tool('acts', ''), 'looks.mjs': tool('looks', 'readOnly: () => true,') })
    const ended = await planning(
      [[call('acts', {}), call('looks', {})], done],
      ['-c', `tool_folders=[${JSON.stringify(tools)}]`],
    )
    expect(told(ended)).toContain('acts is not known to be read-only')
    expect(told(ended)).toContain('looks has run')
    expect(told(ended)).not.toContain('acts has run')
  })

  test('a delegated agent plans too', async () => {
    const cwd = repository()
    const hand = call('agent', { title: 'a task', prompt: 'make it' })
    const ended = await planning([[hand], touch, [say('could not')], done], [], cwd)
    expect(ended.code).toBe(0)
    expect(existsSync(join(cwd, 'made'))).toBe(false)
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ agent_id: 'agent-1', status: 'declined', verdict: expect.anything() }),
    )
  })

  test('without a person it ends with the plan as its final message', async () => {
    const cwd = repository()
    const json = await planning([exit('# The plan\nmake it'), done], [], cwd)
    expect(json.code, json.stderr).toBe(0)
    expect(json.requests).toHaveLength(1)
    expect(states(json)).toEqual(['entered', 'delivered'])
    expect(items(json).at(-1)).toMatchObject({ type: 'agent_message', text: '# The plan\nmake it' })
    expect(json.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 0 })
    const plain = await exec([exit('# The plan\nmake it')], ['--plan', '--fail-on-denied', 'x'], { cwd })
    expect([plain.code, plain.stdout], plain.stderr).toEqual([0, '# The plan\nmake it\n'])
    expect(plain.stderr).toContain('plan mode: nothing can be changed until a plan is approved')
  })

  test('a program that answers for the user may approve the plan, and the run carries it out', async () => {
    const cwd = repository()
    const program = `${process.execPath} -e 'require("readline").createInterface({input:process.stdin}).on("line",(l)=>{const {id,action}=JSON.parse(l);console.log(JSON.stringify({id,outcome:action.plan==="good"?"allow":"deny",reason:"read it"}))})'`
    const ended = await planning([exit('bad'), touch, exit('good'), touch, done], ['--approval-program', program], cwd)
    expect(ended.code, ended.stderr).toBe(0)
    expect(states(ended)).toEqual(['entered', 'kept', 'left'])
    expect(told(ended)).toContain('The plan is not approved: read it')
    expect(items(ended).flatMap((item) => (item.type === 'command_execution' ? [item.status] : []))).toEqual([
      'declined',
      'completed',
    ])
    expect(existsSync(join(cwd, 'made'))).toBe(true)
  })

  test('a hook script for ExitPlanMode may approve the plan', async () => {
    const cwd = repository()
    const approve = `grep -q '"plan":"1. touch made"' && echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`
    const hooks = { PermissionRequest: [{ matcher: 'ExitPlanMode', hooks: [{ type: 'command', command: approve }] }] }
    const home = tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })
    const ended = await planning([exit(), touch, done], [], cwd, home)
    expect(states(ended)).toEqual(['entered', 'left'])
    expect(existsSync(join(cwd, 'made'))).toBe(true)
  })

  test('hooks learn about it in the terms that they know', async () => {
    const home = tempDir({ '.claude/settings.json': '{}' })
    const log = join(home, '.claude/log')
    const tell = { hooks: [{ type: 'command', command: `cat >> ${log}; echo >> ${log}` }] }
    const settings = join(home, '.claude/settings.json')
    writeFileSync(settings, JSON.stringify({ hooks: { PreToolUse: [tell] } }))
    await planning([[run('ls')], exit(), done], [], repository(), home)
    const seen = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(seen).toMatchObject([
      { tool_name: 'Bash', permission_mode: 'plan' },
      { tool_name: 'ExitPlanMode', permission_mode: 'plan', tool_input: { plan: '1. touch made' } },
    ])
  })

  test('with a schema for the final message, the model gives the plan in that form', async () => {
    const schema = {
      type: 'object',
      properties: { steps: { type: 'string' } },
      required: ['steps'],
      additionalProperties: false,
    }
    const file = join(tempDir({ 'schema.json': JSON.stringify(schema) }), 'schema.json')
    const ended = await planning([exit(), [say('{"steps":"touch"}')]], ['--output-schema', file])
    expect(ended.code).toBe(0)
    expect(items(ended).at(-1)).toMatchObject({ type: 'agent_message', text: '{"steps":"touch"}' })
  })
})

describe.skipIf(needsBubblewrap())('a session in plan mode', () => {
  test('is still in it when it is resumed or forked', async () => {
    const cwd = repository()
    const home = tempDir()
    await planning([done], [], cwd, home)
    for (const how of ['resume', 'fork']) {
      const next = await exec([touch, done], ['--json', how, '--last', 'now do it'], { cwd, home })
      expect(next.events[0]).toMatchObject({ config: { plan_mode: 'user' } })
      expect(told(next)).toContain('Plan mode is on')
    }
    expect(existsSync(join(cwd, 'made'))).toBe(false)
  })

  test('is still in it if an older version used another name for who requested it', async () => {
    const cwd = repository()
    const home = tempDir()
    await planning([done], [], cwd, home)
    const sessions = join(home, '.local/state/portcullis/sessions')
    const rollout = join(sessions, readdirSync(sessions)[0] ?? '', 'rollout.jsonl')
    const text = readFileSync(rollout, 'utf8')
    expect(text).toContain('"requested_by":"user"')
    writeFileSync(rollout, text.replace('"requested_by"', '"wished_by"'))
    const next = await exec([touch, done], ['--json', 'resume', '--last', 'now do it'], { cwd, home })
    expect(next.events[0]).toMatchObject({ config: { plan_mode: 'user' } })
  })

  test('acts after the user resumes it with --no-plan', async () => {
    const cwd = repository()
    const home = tempDir()
    await planning([exit()], [], cwd, home)
    const next = await exec([touch, done], ['--json', 'resume', '--last', '--no-plan', 'do it'], { cwd, home })
    expect(told(next)).toContain('The user has turned plan mode off')
    expect(existsSync(join(cwd, 'made'))).toBe(true)
    const last = await exec([done], ['--json', 'resume', '--last', 'and now'], { cwd, home })
    expect(JSON.stringify(last.events[0])).not.toContain('plan_mode')
  })
})

describe.skipIf(needsBubblewrap())('a model that wants to plan first', () => {
  test('can change nothing until it has shown the plan, and then as much as before', async () => {
    const cwd = repository()
    const ended = await exec([enter, touch, exit(), touch, done], ['--json', 'x'], { cwd })
    expect(ended.code).toBe(0)
    expect(states(ended)).toEqual(['entered', 'left'])
    expect(items(ended).flatMap((item) => (item.type === 'command_execution' ? [item.status] : []))).toEqual([
      'declined',
      'completed',
    ])
  })

  test('can’t leave plan mode by itself if the user wants to approve everything', async () => {
    const ended = await exec([enter, exit('the plan'), done], ['--json', '--ask-for-approval', 'untrusted', 'x'], {
      cwd: repository(),
    })
    expect([ended.code, states(ended)]).toEqual([0, ['entered', 'delivered']])
    expect(items(ended).at(-1)).toMatchObject({ type: 'agent_message', text: 'the plan' })
  })

  test('must first end running commands', async () => {
    const ended = await exec(
      [[run('sleep 60', { yield_time_ms: 50 })], enter, [call('kill_session', { session_id: 1 })], enter, done],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(told(ended)).toContain('Commands are still running and could make changes: 1.')
    expect(states(ended)).toEqual(['entered'])
  })

  test('must first collect the reports of running agents', async () => {
    const hand = call('agent', { title: 'a task', prompt: 'wait', background: true })
    const ended = await exec((index) => (index === 0 ? [hand, ...enter] : done), ['--json', 'x'], { cwd: repository() })
    expect(JSON.stringify(ended.requests.map(({ body }) => body))).toContain('Agents are still working: agent-1')
  })

  test('ends the JavaScript session, which could continue writing', async () => {
    const cwd = repository()
    const repl = (code: string) => [call('js_repl', { code })]
    const ended = await exec([repl('const kept = 1'), enter, exit(), repl('typeof kept'), done], ['--json', 'x'], {
      cwd,
    })
    expect(told(ended)).toContain('undefined')
  })

  test('sends the same tools before, in and after it', async () => {
    const ended = await exec([enter, [run('ls')], exit(), done], ['--json', 'x'], { cwd: repository() })
    const [first, ...others] = ended.requests.map(
      ({ body }) => body as { tools: unknown; instructions: unknown; input: unknown[] },
    )
    for (const [at, other] of others.entries()) {
      expect([other.tools, other.instructions]).toEqual([first?.tools, first?.instructions])
      expect(other.input.slice(0, first?.input.length)).toEqual(first?.input)
      expect(other.input.length).toBeGreaterThan(at)
    }
  })
})

describe.skipIf(needsScript() || needsBubblewrap())('a person at the terminal', () => {
  test.each([
    ['whom nothing else is asked', []],
    ['who is asked anyway', ['--ask-for-approval', 'on-request']],
  ])('%s reads the plan and decides', async (_, args) => {
    const cwd = repository()
    const { code, shown, requests } = await execAtTerminal(
      [exit('# First plan'), exit('# Second plan'), touch, done],
      [...args, '--plan', 'x'],
      [
        { after: '[y/n/s] ', text: 'n add a test\n' },
        { after: '[y/n/s] ', text: 'y\n' },
      ],
      { cwd },
    )
    expect(code).toBe(0)
    expect(shown).toContain('    leave plan mode, and carry out this plan:\n    \n    # First plan\n')
    expect(JSON.stringify(requests[1]?.body)).toContain('They said: add a test')
    expect(shown).toContain('◆ left plan mode')
    expect(existsSync(join(cwd, 'made'))).toBe(true)
  })

  test('also reads the plan of a model that chose to plan first', async () => {
    const { code, shown } = await execAtTerminal(
      [enter, exit('# A plan'), done],
      ['x'],
      [{ after: '[y/n/s] ', text: 's\n' }],
      { cwd: repository() },
    )
    expect(code).toBe(3)
    expect(shown).toContain('# A plan')
  })
})
