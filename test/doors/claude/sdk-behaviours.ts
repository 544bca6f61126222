import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { resultIn, type Message } from './door.ts'
import { ask, drain, prompts, sdk } from './sdk.ts'

/** A behaviour of Claude Code that clients of the Agent SDK see. */
export type Behaviour = { readonly name: string; readonly run: () => Promise<void> }

const hello: readonly Reply[] = [{ say: [say('Hi!')], usage: { input: 42, cached: 12, output: 5 } }]
const write = (path: string): Reply => [call('exec_command', { cmd: `echo made > ${path}` })]
const schema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
}

const blocks = (messages: readonly Message[], kind: string): readonly Record<string, unknown>[] =>
  messages.flatMap(({ message }) => {
    const { content } = (message ?? {}) as { readonly content?: unknown }
    const all = Array.isArray(content) ? (content as Record<string, unknown>[]) : []
    return all.filter(({ type }) => type === kind)
  })

const bodies = (requests: readonly { readonly body?: unknown }[]): readonly string[] =>
  requests.map(({ body }) => JSON.stringify(body))

export const sdkBehaviours: readonly Behaviour[] = [
  {
    name: 'a prompt is answered, with its session, its model and its usage',
    run: async () => {
      const messages = await drain(await ask('hello', hello, { model: 'claude-sonnet-5-5' }))
      const [init] = messages
      expect(init).toMatchObject({
        type: 'system',
        subtype: 'init',
        model: 'claude-sonnet-5-5',
        permissionMode: 'default',
      })
      expect(init?.['tools']).toEqual(expect.arrayContaining(['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep']))
      expect(blocks(messages, 'text')).toEqual([{ type: 'text', text: 'Hi!' }])
      expect(resultIn(messages)).toMatchObject({
        subtype: 'success',
        is_error: false,
        result: 'Hi!',
        num_turns: 1,
        usage: { input_tokens: 30, cache_read_input_tokens: 12, output_tokens: 5 },
        session_id: init?.['session_id'],
        permission_denials: [],
      })
    },
  },
  {
    name: 'a command is a call of Bash, and has a result with the same id',
    run: async () => {
      const messages = await drain(
        await ask('go', [[call('exec_command', { cmd: 'echo one; echo two' })], [say('ok')]]),
      )
      const [used] = blocks(messages, 'tool_use')
      expect(used).toMatchObject({ name: 'Bash', input: { command: 'echo one; echo two' } })
      const [result] = blocks(messages, 'tool_result')
      expect(result).toMatchObject({ tool_use_id: used?.['id'], is_error: false })
      expect(result?.['content']).toContain('one\ntwo')
    },
  },
  {
    name: 'canUseTool allows a command',
    run: async () => {
      const asked: unknown[] = []
      const started = await ask('go', [write('a'), [say('ok')]], {
        canUseTool: (name: string, input: object) => {
          asked.push([name, input])
          return Promise.resolve({ behavior: 'allow', updatedInput: input })
        },
      })
      const messages = await drain(started)
      expect(asked).toEqual([['Bash', { command: 'echo made > a' }]])
      expect(resultIn(messages)).toMatchObject({ subtype: 'success', permission_denials: [] })
      expect(readFileSync(join(started.cwd, 'a'), 'utf8')).toBe('made\n')
    },
  },
  {
    name: 'canUseTool denies a command, and the model reads why',
    run: async () => {
      const started = await ask('go', [write('a'), [say('ok')]], {
        canUseTool: () => Promise.resolve({ behavior: 'deny', message: 'not today' }),
      })
      const messages = await drain(started)
      expect(blocks(messages, 'tool_result')).toMatchObject([{ is_error: true }])
      expect(bodies(started.mock.requests)[1]).toContain('not today')
      const denial = { tool_name: 'Bash', tool_input: { command: 'echo made > a' } }
      expect(resultIn(messages)).toMatchObject({ subtype: 'success', permission_denials: [denial] })
      expect(existsSync(join(started.cwd, 'a'))).toBe(false)
    },
  },
  {
    name: 'canUseTool with interrupt ends the turn',
    run: async () => {
      const started = await ask('go', [write('a'), [say('never said')]], {
        canUseTool: () => Promise.resolve({ behavior: 'deny', message: 'stop it', interrupt: true }),
      })
      const messages: Message[] = []
      await expect(
        (async () => {
          for await (const message of started.query) messages.push(message)
        })(),
      ).rejects.toThrow()
      expect(resultIn(messages)).toMatchObject({ subtype: 'error_during_execution', is_error: true })
      expect(started.mock.requests).toHaveLength(1)
    },
  },
  {
    name: 'a PreToolUse callback refuses a command',
    run: async () => {
      const inputs: unknown[] = []
      const refuse = (input: object) => {
        inputs.push(input)
        const hookSpecificOutput = {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'no',
        }
        return Promise.resolve({ hookSpecificOutput })
      }
      const started = await ask('go', [write('a'), [say('ok')]], {
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
        hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [refuse] }] },
      })
      const messages = await drain(started)
      expect(inputs).toMatchObject([
        { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'echo made > a' } },
      ])
      expect(blocks(messages, 'tool_result')).toMatchObject([{ is_error: true }])
      expect(existsSync(join(started.cwd, 'a'))).toBe(false)
    },
  },
  {
    name: 'PostToolUse, UserPromptSubmit and Stop callbacks are called, in this order',
    run: async () => {
      const seen: Record<string, unknown>[] = []
      const note = (input: Record<string, unknown>) => {
        seen.push(input)
        return Promise.resolve({})
      }
      const one = [{ hooks: [note] }]
      const hooks = { UserPromptSubmit: one, PostToolUse: one, Stop: one }
      await drain(await ask('go', [[call('exec_command', { cmd: 'echo seen' })], [say('ok')]], { hooks }))
      expect(seen).toMatchObject([
        { hook_event_name: 'UserPromptSubmit', prompt: 'go' },
        {
          hook_event_name: 'PostToolUse',
          tool_name: 'Bash',
          tool_response: { stdout: expect.stringContaining('seen') as string },
        },
        { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'ok' },
      ])
    },
  },
  {
    name: 'a tool in the client’s process is called',
    run: async () => {
      const { createSdkMcpServer, tool } = await sdk()
      const given: unknown[] = []
      const add = tool(
        'add',
        'Adds two numbers.',
        { a: z.number(), b: z.number() },
        (input: { a: number; b: number }) => {
          given.push(input)
          return Promise.resolve({ content: [{ type: 'text', text: `the sum is ${input.a + input.b}` }] })
        },
      )
      const started = await ask('go', [[call('mcp__calc__add', { a: 2, b: 3 })], [say('5')]], {
        mcpServers: { calc: createSdkMcpServer({ name: 'calc', tools: [add] }) },
        allowedTools: ['mcp__calc__add'],
      })
      const messages = await drain(started)
      expect(given).toEqual([{ a: 2, b: 3 }])
      expect(messages[0]).toMatchObject({ mcp_servers: [{ name: 'calc', status: 'connected' }] })
      expect(blocks(messages, 'tool_use')).toMatchObject([{ name: 'mcp__calc__add', input: { a: 2, b: 3 } }])
      expect(bodies(started.mock.requests)[1]).toContain('the sum is 5')
    },
  },
  {
    name: 'an answer that matches a schema',
    run: async () => {
      const messages = await drain(
        await ask('go', [[say('{"answer":"yes"}')]], { outputFormat: { type: 'json_schema', schema } }),
      )
      expect(resultIn(messages)).toMatchObject({ subtype: 'success', structured_output: { answer: 'yes' } })
    },
  },
  {
    name: 'partial messages',
    run: async () => {
      const messages = await drain(await ask('go', [[say('in several pieces')]], { includePartialMessages: true }))
      const events = messages.flatMap(({ type, event }) => (type === 'stream_event' ? [event as Message] : []))
      const kinds = [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_stop',
      ]
      expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(kinds))
      const deltas = events.flatMap(({ delta }) => (delta as { readonly text?: string } | undefined)?.text ?? [])
      expect(deltas.join('')).toBe('in several pieces')
    },
  },
  {
    name: 'two turns, the second of which knows the first',
    run: async () => {
      const input = prompts()
      const { query, mock } = await ask(input, [[say('First')], [say('Second')]])
      input.push('first input')
      const results: unknown[] = []
      for await (const message of query) {
        if (message.type !== 'result') continue
        results.push(message['result'])
        if (results.length === 1) input.push('second input')
        else input.end()
      }
      expect(results).toEqual(['First', 'Second'])
      expect(bodies(mock.requests)[1]).toMatch(/first input.*First.*second input/)
    },
  },
  {
    name: 'interrupt ends a turn, and the next one works',
    run: async () => {
      const input = prompts()
      const { query } = await ask(
        input,
        (_, index) => (index === 0 ? [call('exec_command', { cmd: 'sleep 60' })] : [say('ok')]),
        {
          permissionMode: 'bypassPermissions',
          allowDangerouslySkipPermissions: true,
        },
      )
      input.push('go')
      const results: unknown[] = []
      for await (const message of query) {
        if (message.type === 'assistant' && results.length === 0) void query.interrupt()
        if (message.type !== 'result') continue
        results.push(message.subtype)
        if (results.length === 1) input.push('again')
        else input.end()
      }
      expect(results).toEqual(['error_during_execution', 'success'])
    },
  },
  {
    name: 'setModel and setPermissionMode count for the next turn',
    run: async () => {
      const input = prompts()
      const { query, mock, cwd } = await ask(input, [[say('ok')], write('b'), [say('ok')]], {
        allowDangerouslySkipPermissions: true,
      })
      input.push('go')
      const inits: Message[] = []
      let results = 0
      for await (const message of query) {
        if (message.subtype === 'init') inits.push(message)
        if (message.type !== 'result') continue
        if (++results === 2) input.end()
        else {
          await query.setModel('claude-haiku-4-5')
          await query.setPermissionMode('bypassPermissions')
          input.push('again')
        }
      }
      expect(inits[1]).toMatchObject({ model: 'claude-haiku-4-5', permissionMode: 'bypassPermissions' })
      expect((mock.requests[1]?.body as { readonly model: string }).model).toBe('claude-haiku-4-5')
      expect(existsSync(join(cwd, 'b'))).toBe(true)
    },
  },
  {
    name: 'mcpServerStatus and getContextUsage',
    run: async () => {
      const { createSdkMcpServer, tool } = await sdk()
      const none = tool('none', 'Nothing.', {}, () => Promise.resolve({ content: [] }))
      const input = prompts()
      const { query } = await ask(input, hello, {
        mcpServers: { calc: createSdkMcpServer({ name: 'calc', tools: [none] }) },
      })
      input.push('go')
      for await (const message of query) {
        if (message.type !== 'result') continue
        expect(await query.mcpServerStatus()).toMatchObject([{ name: 'calc', status: 'connected' }])
        expect(await query.getContextUsage()).toMatchObject({ totalTokens: 47, maxTokens: 1_000_000 })
        input.end()
      }
    },
  },
  {
    name: 'a session is resumed by its id',
    run: async () => {
      const [cwd, home] = [repository(), tempDir()]
      const first = resultIn(await drain(await ask('first input', [[say('First')]], { cwd, home })))
      const second = await ask('second input', [[say('Second')]], { cwd, home, resume: first['session_id'] })
      expect(resultIn(await drain(second))['session_id']).toBe(first['session_id'])
      expect(bodies(second.mock.requests)[0]).toMatch(/first input.*First.*second input/)
    },
  },
  {
    name: 'a fork has its own id, and knows what was said before',
    run: async () => {
      const [cwd, home] = [repository(), tempDir()]
      const first = resultIn(await drain(await ask('first input', [[say('First')]], { cwd, home })))
      const options = { cwd, home, resume: first['session_id'], forkSession: true }
      const second = await ask('second input', [[say('Second')]], options)
      expect(resultIn(await drain(second))['session_id']).not.toBe(first['session_id'])
      expect(bodies(second.mock.requests)[0]).toMatch(/first input.*First.*second input/)
    },
  },
  {
    name: 'maxTurns ends the query with error_max_turns',
    run: async () => {
      const messages: Message[] = []
      const look: Reply = [call('exec_command', { cmd: 'ls' })]
      const { query } = await ask('go', [look, look, look], { maxTurns: 2 })
      await (async () => {
        for await (const message of query) messages.push(message)
      })().catch(() => undefined)
      expect(resultIn(messages)).toMatchObject({ subtype: 'error_max_turns', is_error: true, num_turns: 2 })
    },
  },
  {
    name: 'a failure of the provider is an answer that is an error, and the SDK throws it',
    run: async () => {
      const messages: Message[] = []
      const body = { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } }
      const { query } = await ask('go', [{ status: 400, body }])
      await expect(
        (async () => {
          for await (const message of query) messages.push(message)
        })(),
      ).rejects.toThrow()
      expect(resultIn(messages)).toMatchObject({ subtype: 'success', is_error: true })
      expect(resultIn(messages)['result']).toMatch(/^API Error: .*too odd/)
    },
  },
]
