import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { viewsOf } from '../../../engine/hooks/views-of-call.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { commands, hooksOf } from './hooks-support.ts'

const bash = (cmd: string) => viewsOf({ tool: 'exec_command', claudeNames: ['Bash'], input: { cmd } }, '/workspace')
const deny = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not today"}}'`
const answer = (output: object): string => `cat >/dev/null; echo '${JSON.stringify(output)}'`

describe.skipIf(needsBubblewrap())('the contract of a command hook', () => {
  test('it gets the event as JSON, with the names that hook scripts use', async () => {
    const { hooks, workspace } = await hooksOf({ PreToolUse: [commands('Bash', 'cat > seen.json')] })
    await hooks.fireForCall('PreToolUse', bash('ls -l'), { tool_use_id: 'call_1' })
    expect(JSON.parse(readFileSync(join(workspace, 'seen.json'), 'utf8'))).toEqual({
      session_id: 'abc',
      transcript_path: '/nowhere',
      cwd: workspace,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls -l' },
      tool_use_id: 'call_1',
    })
  })

  test('exit code 2 forbids, with the reason on standard error', async () => {
    const { hooks } = await hooksOf({ PreToolUse: [commands('Bash', 'echo "no rm here" >&2; exit 2')] })
    const outcome = await hooks.fireForCall('PreToolUse', bash('rm x'), {})
    expect(outcome).toMatchObject({ decision: 'deny', reason: 'no rm here' })
  })

  test('a permissionDecision in its JSON decides', async () => {
    const { hooks } = await hooksOf({ PreToolUse: [commands('Bash', deny)] })
    expect(await hooks.fireForCall('PreToolUse', bash('ls'), {})).toMatchObject({
      decision: 'deny',
      reason: 'not today',
    })
  })

  test('no output means no decision', async () => {
    const { hooks } = await hooksOf({ PreToolUse: [commands('Bash', 'echo checked')] })
    expect(await hooks.fireForCall('PreToolUse', bash('ls'), {})).toEqual({ context: [] })
  })

  test('deny beats ask beats allow, whatever the order', async () => {
    const say = (decision: string) =>
      answer({ hookSpecificOutput: { permissionDecision: decision, permissionDecisionReason: decision } })
    for (const [said, expected] of [
      [['allow', 'ask', 'deny'], 'deny'],
      [['ask', 'allow'], 'ask'],
      [['allow'], 'allow'],
    ] as const) {
      const { hooks } = await hooksOf({ PreToolUse: [commands('', ...said.map(say))] })
      expect(await hooks.fireForCall('PreToolUse', bash('ls'), {})).toMatchObject({
        decision: expected,
        reason: expected,
      })
    }
  })

  test('a replaced input is converted to the tool’s fields', async () => {
    const change = answer({ hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { command: 'ls -a' } } })
    const { hooks } = await hooksOf({ PreToolUse: [commands('Bash', change)] })
    const outcome = await hooks.fireForCall('PreToolUse', bash('ls'), {})
    expect(outcome.updatedInput).toEqual({ cmd: 'ls -a' })
  })

  test('context that it adds reaches the model, and continue: false ends the run', async () => {
    const said = answer({
      continue: false,
      stopReason: 'enough',
      systemMessage: 'look',
      hookSpecificOutput: { additionalContext: 'mind the gap' },
    })
    const { hooks, runs } = await hooksOf({ PostToolUse: [commands('', said)] })
    const outcome = await hooks.fireForCall('PostToolUse', bash('ls'), {})
    expect(outcome).toEqual({ context: ['mind the gap'], stop: 'enough' })
    expect(runs).toMatchObject([{ status: 'completed', message: 'look' }])
  })

  test('plain text is context for the model only at the start and at a prompt', async () => {
    const group = [commands(undefined, 'echo "it is Tuesday"')]
    const { hooks } = await hooksOf({ SessionStart: group, UserPromptSubmit: group, Stop: group })
    expect((await hooks.fire('SessionStart', { source: 'startup' })).context).toEqual(['it is Tuesday'])
    expect((await hooks.fire('UserPromptSubmit', { prompt: 'x' })).context).toEqual(['it is Tuesday'])
    expect((await hooks.fire('Stop', {})).context).toEqual([])
  })

  test('a text that is too long for the model is stored in a file', async () => {
    const { hooks } = await hooksOf({ SessionStart: [commands(undefined, 'head -c 20000 /dev/zero | tr "\\0" x')] })
    const [context = ''] = (await hooks.fire('SessionStart', { source: 'startup' })).context
    expect(context.length).toBeLessThan(10_300)
    expect(context).toContain('/kept')
  })
})

describe.skipIf(needsBubblewrap())('a guard that fails forbids', () => {
  const failures = {
    'exits with another code than 0 and 2': { command: 'echo oops >&2; exit 1', says: 'it exited with code 1: oops' },
    'is not there': { command: '/nowhere/guard.sh', says: 'it exited with code 127' },
    'may not be executed': { command: 'touch guard.sh; ./guard.sh', says: 'it exited with code 126' },
    'takes too long': { command: 'sleep 30', says: 'it took longer than 0.2 s', timeout: 0.2 },
    'answers with broken JSON': { command: `echo '{"permissionDecision": '`, says: 'its answer is not JSON' },
    'answers with a decision nobody knows': {
      command: answer({ hookSpecificOutput: { permissionDecision: 'perhaps' } }),
      says: 'its answer does not match the schema',
    },
    'is killed': { command: 'kill -9 $$', says: 'it exited with code 137' },
  }
  for (const [name, { command, says, ...rest }] of Object.entries(failures)) {
    test(`one that ${name}`, async () => {
      const { hooks, runs } = await hooksOf({ PreToolUse: [{ hooks: [{ type: 'command', command, ...rest }] }] })
      const outcome = await hooks.fireForCall('PreToolUse', bash('ls'), {})
      expect(outcome.decision).toBe('deny')
      expect(outcome.reason).toContain(says)
      expect(runs).toMatchObject([{ event: 'PreToolUse', status: 'failed' }])
    })
  }

  test('unless it says that the call may continue', async () => {
    const failing = { type: 'command', command: 'exit 1', onError: 'continue' }
    const { hooks, runs } = await hooksOf({ PreToolUse: [{ hooks: [failing] }] })
    const outcome = await hooks.fireForCall('PreToolUse', bash('ls'), {})
    expect(outcome.decision).toBeUndefined()
    expect(runs[0]?.message).toContain('it exited with code 1')
  })

  test('a failing hook of an event that can’t be blocked is reported, and forbids nothing', async () => {
    const { hooks, runs } = await hooksOf({ PostToolUse: [commands('', 'exit 1')] })
    const outcome = await hooks.fireForCall('PostToolUse', bash('ls'), {})
    expect(outcome.decision).toBeUndefined()
    expect(runs).toMatchObject([{ status: 'failed', message: 'it exited with code 1' }])
  })
})

describe.skipIf(needsBubblewrap())('which hooks run', () => {
  test('hooks match by the name, by one of several names, or by a pattern', async () => {
    for (const matcher of ['Bash', 'Write|Bash', 'Write, Bash', 'B.sh', '^(?!Write)', '*', '', undefined]) {
      const { hooks, runs } = await hooksOf({ PreToolUse: [commands(matcher, 'true')] })
      await hooks.fireForCall('PreToolUse', bash('ls'), {})
      expect(runs, String(matcher)).toHaveLength(1)
    }
    for (const matcher of ['bash', 'Ba', 'Write', '^x']) {
      const { hooks, runs } = await hooksOf({ PreToolUse: [commands(matcher, 'true')] })
      await hooks.fireForCall('PreToolUse', bash('ls'), {})
      expect(runs, matcher).toHaveLength(0)
    }
  })

  test('a matcher may use our name of the tool', async () => {
    const { hooks, workspace } = await hooksOf({ PreToolUse: [commands('exec_command', 'cat > seen.json')] })
    await hooks.fireForCall('PreToolUse', bash('ls'), {})
    expect(JSON.parse(readFileSync(join(workspace, 'seen.json'), 'utf8'))).toMatchObject({ tool_input: { cmd: 'ls' } })
  })

  test('an `if` limits the hook to calls that such a permission covers, however they are written', async () => {
    const group = { hooks: [{ type: 'command', command: 'true', if: 'Bash(git push:*)' }] }
    const { hooks, runs } = await hooksOf({ PreToolUse: [group] })
    await hooks.fireForCall('PreToolUse', bash('git status'), {})
    expect(runs).toHaveLength(0)
    await hooks.fireForCall('PreToolUse', bash('env git -C . push origin'), {})
    expect(runs).toHaveLength(1)
  })

  test('the same handler in two files runs once', async () => {
    const { hooks, runs } = await hooksOf({ PreToolUse: [commands('Bash', 'true', 'true')] })
    await hooks.fireForCall('PreToolUse', bash('ls'), {})
    expect(runs).toHaveLength(1)
  })

  test('`once` is once in a run', async () => {
    const { hooks, runs } = await hooksOf({
      PreToolUse: [{ hooks: [{ type: 'command', command: 'true', once: true }] }],
    })
    await hooks.fireForCall('PreToolUse', bash('ls'), {})
    await hooks.fireForCall('PreToolUse', bash('ls'), {})
    expect(runs).toHaveLength(1)
  })

  test('hooks of an event run in parallel', async () => {
    const meet = (own: string, other: string) =>
      `touch ${own}; for i in $(seq 200); do [ -e ${other} ] && exit 0; sleep 0.05; done; exit 2`
    const { hooks } = await hooksOf({ PreToolUse: [commands('', meet('a', 'b'), meet('b', 'a'))] })
    expect((await hooks.fireForCall('PreToolUse', bash('ls'), {})).decision).toBeUndefined()
  })

  test('an async hook delays nothing and decides nothing', async () => {
    const slow = { type: 'command', command: 'sleep 0.3; touch done; exit 2', async: true }
    const { hooks, workspace } = await hooksOf({ PreToolUse: [{ hooks: [slow] }] })
    expect(await hooks.fireForCall('PreToolUse', bash('ls'), {})).toEqual({ context: [] })
    expect(existsSync(join(workspace, 'done'))).toBe(false)
    await hooks.close()
    expect(existsSync(join(workspace, 'done'))).toBe(true)
  })

  test('a patch is shown file by file, as writes and edits', async () => {
    const { hooks, workspace } = await hooksOf({
      PostToolUse: [commands('Edit|Write', 'cat > "$(mktemp --tmpdir=. seen.XXXXXX)"')],
    })
    const input = '*** Begin Patch\n*** Add File: new.ts\n+one\n*** Update File: old.ts\n@@\n-a\n+b\n*** End Patch\n'
    await hooks.fireForCall(
      'PostToolUse',
      viewsOf({ tool: 'apply_patch', claudeNames: ['Edit', 'Write'], input: { input } }, workspace),
      {},
    )
    const seen = readdirSync(workspace).filter((name) => name.startsWith('seen.'))
    const calls = seen.map(
      (name) => JSON.parse(readFileSync(join(workspace, name), 'utf8')) as { tool_name: string; tool_input: object },
    )
    expect(calls.map(({ tool_name, tool_input }) => [tool_name, tool_input]).toSorted()).toEqual([
      ['Edit', { file_path: join(workspace, 'old.ts'), old_string: 'a\n', new_string: 'b\n' }],
      ['Write', { file_path: join(workspace, 'new.ts'), content: 'one\n' }],
    ])
  })
})

describe.skipIf(needsBubblewrap())('a hook is confined as commands are', () => {
  test('it cannot write outside the workspace', async () => {
    const { hooks } = await hooksOf({ PreToolUse: [commands('', 'touch /etc/planted 2>/dev/null || exit 2')] })
    expect((await hooks.fireForCall('PreToolUse', bash('ls'), {})).decision).toBe('deny')
    expect(existsSync('/etc/planted')).toBe(false)
  })
})

describe.skipIf(needsBubblewrap())('other handlers', () => {
  async function server(reply: (body: string, headers: NodeJS.Dict<string | string[]>) => readonly [number, string]) {
    const listening = createServer((request, response) => {
      let body = ''
      request.on('data', (text: Buffer) => (body += text.toString()))
      request.on('end', () => {
        const [status, text] = reply(body, request.headers)
        response.writeHead(status).end(text)
      })
    })
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void listening.close())
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`
  }

  test('an http hook gets the event and answers in its body; only named variables are sent', async () => {
    let seen: unknown
    const url = await server((body, { authorization, 'x-other': other }) => {
      seen = [(JSON.parse(body) as { tool_name: string }).tool_name, authorization, other]
      return [
        200,
        JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'far' } }),
      ]
    })
    const headers = { authorization: 'Bearer $TOKEN', 'x-other': '${SECRET}' }
    const table = { PreToolUse: [{ hooks: [{ type: 'http', url, headers, allowedEnvVars: ['TOKEN'] }] }] }
    const { hooks } = await hooksOf(table, { env: { TOKEN: 't', SECRET: 's' } })
    expect(await hooks.fireForCall('PreToolUse', bash('ls'), {})).toMatchObject({ decision: 'deny', reason: 'far' })
    expect(seen).toEqual(['Bash', 'Bearer t', ''])
  })

  test('an http guard that is down or returns 500 forbids', async () => {
    const failing = await server(() => [500, 'sorry'])
    for (const [url, says] of [
      [failing, 'status 500'],
      ['http://127.0.0.1:9/', '127.0.0.1:9'],
    ] as const) {
      const { hooks } = await hooksOf({ PreToolUse: [{ hooks: [{ type: 'http', url }] }] })
      const outcome = await hooks.fireForCall('PreToolUse', bash('ls'), {})
      expect(outcome.decision).toBe('deny')
      expect(outcome.reason).toContain(says)
    }
  })

  test('a prompt hook asks a model, which sees the event and must answer in JSON', async () => {
    const table = { PreToolUse: [{ hooks: [{ type: 'prompt', prompt: 'Is this safe? $ARGUMENTS' }] }] }
    const asked: string[] = []
    for (const [said, expected] of [
      ['{"ok": true}', undefined],
      ['```json\n{"ok": false, "reason": "risky"}\n```', 'risky'],
      ['Sure, go ahead', "the model's answer was not"],
    ] as const) {
      const { hooks } = await hooksOf(table, { ask: ({ text }) => (asked.push(text), Promise.resolve(said)) })
      const outcome = await hooks.fireForCall('PreToolUse', bash('ls'), {})
      if (expected === undefined) expect(outcome.decision).toBeUndefined()
      else expect(outcome.reason).toContain(expected)
    }
    expect(asked[0]).toContain('"command":"ls"')
  })

  test('an mcp_tool hook passes fields of the event to a server’s tool', async () => {
    const handler = { type: 'mcp_tool', server: 'guard', tool: 'check', input: { line: '${tool_input.command}' } }
    const called: unknown[] = []
    const { hooks } = await hooksOf(
      { PreToolUse: [{ hooks: [handler] }] },
      {
        callMcpTool: (...[server, tool, input]) => {
          called.push([server, tool, input])
          return Promise.resolve('{"decision": "block", "reason": "the server minds"}')
        },
      },
    )
    expect((await hooks.fireForCall('PreToolUse', bash('ls'), {})).reason).toBe('the server minds')
    expect(called).toEqual([['guard', 'check', { line: 'ls' }]])
  })
})
