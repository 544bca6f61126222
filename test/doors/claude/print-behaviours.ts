import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { claude, resultIn, type Ended } from './door.ts'

/** A behaviour of `claude -p`. `differs`: why the door does something else. */
export type Behaviour = { readonly name: string; readonly differs?: string; readonly run: () => Promise<void> }

const hi: readonly Reply[] = [[say('Hi!')]]
const command = (cmd: string): readonly Reply[] => [[call('exec_command', { cmd })], [say('ok')]]
const edit: readonly Reply[] = [[call('write_file', { path: 'made', content: 'text' })], [say('ok')]]
const json = ['-p', '--output-format', 'json']

const resultOf = ({ stdout }: Ended): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>
const sent = ({ requests }: Ended, at = 0): string => JSON.stringify(requests[at]?.body)

/** Runs one turn in a new repository, and says which files it has made. */
async function made(args: readonly string[], replies: readonly Reply[], file = 'made'): Promise<boolean> {
  const cwd = repository()
  await claude([...json, ...args, 'go'], { replies, cwd })
  return existsSync(join(cwd, file))
}

export const printBehaviours: readonly Behaviour[] = [
  {
    name: 'text is the last message',
    run: async () => {
      const { code, stdout } = await claude(['-p', 'go'], { replies: command('ls') })
      expect([code, stdout]).toEqual([0, 'ok\n'])
    },
  },
  {
    name: 'json is the result alone',
    run: async () => {
      const ended = await claude([...json, 'go'], { replies: hi })
      expect(resultOf(ended)).toMatchObject({ type: 'result', subtype: 'success', is_error: false, result: 'Hi!' })
    },
  },
  {
    name: 'json with --verbose is a list of all messages',
    run: async () => {
      const { stdout } = await claude(['-p', '--output-format', 'json', '--verbose', 'go'], { replies: hi })
      const types = (JSON.parse(stdout) as readonly { readonly type: string }[]).map(({ type }) => type)
      expect(types).toEqual(['system', 'assistant', 'result'])
    },
  },
  {
    name: '--system-prompt-file and --append-system-prompt-file are read from files',
    run: async () => {
      const home = tempDir({ own: 'You are a pirate.', more: '{ "Rhyme": true }' })
      const files = ['--system-prompt-file', join(home, 'own'), '--append-system-prompt-file', join(home, 'more')]
      const text = sent(await claude(['-p', ...files, 'go'], { replies: hi }))
      expect(text).toMatch(/You are a pirate\.[^]*Rhyme/)
      expect(text).not.toContain('You are a coding agent')
      const both = await claude(['-p', ...files, '--system-prompt', 'other', 'go'], { replies: hi })
      expect([both.code, both.requests]).toEqual([1, []])
    },
  },
  {
    name: '--replay-user-messages repeats each message, with its uuid, when its turn begins',
    run: async () => {
      const uuid = randomUUID()
      const line = { type: 'user', uuid, message: { role: 'user', content: 'go' } }
      const args = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
      const ended = await claude([...args, '--replay-user-messages'], {
        replies: hi,
        stdin: `${JSON.stringify(line)}\n`,
      })
      expect(ended.messages[0]).toMatchObject({ ...line, isReplay: true })
      expect(ended.messages.map(({ type }) => type)).toEqual(['user', 'system', 'assistant', 'result'])
    },
  },
  {
    name: 'stream-json needs --verbose',
    run: async () => {
      const ended = await claude(['-p', '--output-format', 'stream-json', 'go'], { replies: hi })
      expect([ended.code, ended.stdout, ended.requests]).toEqual([1, '', []])
    },
  },
  {
    name: 'stream-json is one message per line, the first of which is init and the last the result',
    run: async () => {
      const { messages } = await claude(['-p', '--output-format', 'stream-json', '--verbose', 'go'], {
        replies: command('ls'),
      })
      expect(messages.map(({ type }) => type)).toEqual(['system', 'assistant', 'user', 'assistant', 'result'])
    },
  },
  {
    name: 'the prompt is read from standard input',
    run: async () => {
      const ended = await claude(['-p'], { replies: hi, stdin: 'what to do' })
      expect(sent(ended)).toContain('what to do')
    },
  },
  {
    name: '--continue --print -- PROMPT continues the newest session of the folder',
    run: async () => {
      const [cwd, home] = [repository(), tempDir()]
      await claude(['-p', 'first input'], { replies: hi, cwd, home })
      const ended = await claude(['--continue', '--print', '--', 'second input'], { replies: hi, cwd, home })
      expect(sent(ended)).toMatch(/first input.*Hi!.*second input/)
    },
  },
  {
    name: '--session-id names the session, --resume continues it, and --continue finds the newest whatever its id',
    run: async () => {
      const [cwd, home, id] = [repository(), tempDir(), randomUUID()]
      await claude(['-p', 'an older one'], { replies: hi, cwd, home })
      const first = await claude([...json, '--session-id', id, 'first input'], { replies: hi, cwd, home })
      expect(resultOf(first)['session_id']).toBe(id)
      const second = await claude([...json, '--resume', id, 'second input'], { replies: hi, cwd, home })
      expect(resultOf(second)['session_id']).toBe(id)
      expect(sent(second)).toMatch(/first input.*Hi!.*second input/)
      expect(resultOf(await claude([...json, '-c', 'third'], { replies: hi, cwd, home }))['session_id']).toBe(id)
    },
  },
  {
    name: '--resume-session-at leaves out what came after a message',
    run: async () => {
      const line = { replies: hi, cwd: repository(), home: tempDir() }
      const { messages } = await claude(['-p', '--output-format', 'stream-json', '--verbose', 'input 1'], line)
      const at = String(messages.find(({ type }) => type === 'assistant')?.['uuid'])
      await claude(['-p', '--continue', 'input 2'], line)
      const third = await claude(['-p', '--continue', '--resume-session-at', at, 'input 3'], line)
      expect(sent(third)).toMatch(/input 1.*Hi!.*input 3/)
      expect(sent(third)).not.toContain('input 2')
    },
  },
  {
    name: '--session-id of a session that is there is refused',
    run: async () => {
      const line = { replies: hi, cwd: repository(), home: tempDir() }
      const args = [...json, '--session-id', randomUUID(), 'go']
      expect([(await claude(args, line)).code, (await claude(args, line)).code]).toEqual([0, 1])
    },
  },
  {
    name: '--no-session-persistence stores no session',
    run: async () => {
      const line = { replies: hi, cwd: repository(), home: tempDir() }
      await claude(['-p', '--no-session-persistence', 'go'], line)
      expect((await claude(['-p', '-c', 'go'], line)).code).toBe(1)
    },
  },
  {
    name: '--max-turns',
    run: async () => {
      const ended = await claude([...json, '--max-turns', '1', 'go'], { replies: command('ls') })
      expect([ended.code, resultOf(ended)['subtype']]).toEqual([1, 'error_max_turns'])
    },
  },
  {
    name: '--max-budget-usd',
    run: async () => {
      const ended = await claude([...json, '--max-budget-usd', '0.000001', 'go'], { replies: hi })
      expect([ended.code, resultOf(ended)['subtype']]).toEqual([1, 'error_max_budget_usd'])
    },
  },
  {
    name: 'a failure of the provider is a result that is an error',
    run: async () => {
      const body = { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } }
      const ended = await claude([...json, 'go'], { replies: [{ status: 400, body }] })
      expect([ended.code, resultOf(ended)]).toMatchObject([1, { subtype: 'success', is_error: true }])
      expect(resultOf(ended)['result']).toContain('API Error: ')
    },
  },
  {
    name: '--json-schema',
    run: async () => {
      const schema = JSON.stringify({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] })
      const ended = await claude([...json, '--json-schema', schema, 'go'], {
        replies: [[call('structured_output', { a: 1 })]],
      })
      expect(resultOf(ended)['structured_output']).toEqual({ a: 1 })
    },
  },
  {
    name: '--json-schema, and an answer that never matches',
    run: async () => {
      const schema = JSON.stringify({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] })
      const ended = await claude([...json, '--json-schema', schema, 'go'], { replies: () => [say('no')] })
      expect([ended.code, resultOf(ended)['subtype']]).toEqual([1, 'error_max_structured_output_retries'])
    },
  },
  {
    name: 'the mode default refuses edits and commands that change something, and reports them',
    run: async () => {
      const ended = await claude([...json, 'go'], { replies: edit })
      expect(resultOf(ended)['permission_denials']).toMatchObject([
        { tool_name: 'Write', tool_input: { content: 'text' } },
      ])
      expect(await made([], command('touch made'))).toBe(false)
    },
  },
  {
    name: 'a turn in which every call was refused is a success',
    differs: 'where nothing was done, nothing succeeded',
    run: async () => {
      const touch = (name: string): Reply => [call('exec_command', { cmd: `touch ${name}` })]
      const replies = [...['aa', 'bb', 'cc', 'dd'].map(touch), [say('nothing was allowed')]]
      const ended = await claude([...json, 'go'], { replies })
      expect([ended.code, resultOf(ended)['subtype'], ended.requests.length]).toEqual([1, 'error_during_execution', 5])
    },
  },
  {
    name: 'the mode acceptEdits allows edits',
    run: async () => {
      expect(await made(['--permission-mode', 'acceptEdits'], edit)).toBe(true)
    },
  },
  {
    name: 'the mode acceptEdits allows touch, mkdir, mv and the like',
    differs: 'commands that change something need permission',
    run: async () => {
      expect(await made(['--permission-mode', 'acceptEdits'], command('touch made'))).toBe(false)
    },
  },
  {
    name: 'the mode plan changes nothing',
    run: async () => {
      expect(await made(['--permission-mode', 'plan'], command('touch made'))).toBe(false)
    },
  },
  {
    name: '--dangerously-skip-permissions asks nobody',
    run: async () => {
      expect(await made(['--dangerously-skip-permissions'], command('touch made'))).toBe(true)
    },
  },
  {
    name: '--dangerously-skip-permissions lets commands write anywhere and use the network',
    differs: 'the sandbox and what rules forbid remain',
    run: async () => {
      const outside = join(tempDir(), 'outside')
      await claude(['-p', '--dangerously-skip-permissions', 'go'], { replies: command(`touch ${outside}`) })
      expect(existsSync(outside)).toBe(false)
    },
  },
  {
    name: '--allowedTools allows what it names',
    run: async () => {
      expect(await made(['--allowedTools', 'Read,Bash(touch made:*)', '--verbose'], command('touch made'))).toBe(true)
      expect(await made(['--allowedTools', 'Bash(touch other:*)', '--verbose'], command('touch made'))).toBe(false)
    },
  },
  {
    name: '--disallowedTools takes tools away, and refuses commands',
    run: async () => {
      const bypass = '--dangerously-skip-permissions'
      expect(await made(['--disallowedTools', 'Bash', bypass], command('touch made'))).toBe(false)
      expect(await made(['--disallowedTools', 'Bash(touch:*)', bypass], command('touch made'))).toBe(false)
      expect(await made(['--disallowedTools', 'Bash', bypass], edit)).toBe(true)
    },
  },
  {
    name: '--tools leaves only what it names',
    run: async () => {
      expect(await made(['--tools', 'Bash', '--dangerously-skip-permissions'], edit)).toBe(false)
      expect(await made(['--tools', 'Bash', '--dangerously-skip-permissions'], command('touch made'))).toBe(true)
      expect(await made(['--tools=', '--dangerously-skip-permissions'], command('touch made'))).toBe(false)
    },
  },
  {
    name: '--system-prompt replaces the instructions, --append-system-prompt adds to them',
    run: async () => {
      const ended = await claude(
        ['-p', '--system-prompt', 'Be a poet.', '--append-system-prompt', 'In rhymes.', 'go'],
        { replies: hi },
      )
      const { system } = ended.requests[0]?.body as { readonly system: readonly { readonly text: string }[] }
      expect(system[0]?.text).toBe('Be a poet.')
      expect(sent(ended)).toContain('In rhymes.')
    },
  },
  {
    name: '--model takes opus, sonnet and haiku',
    run: async () => {
      const ended = await claude(['-p', '--model', 'sonnet', 'go'], { replies: hi })
      expect((ended.requests[0]?.body as { readonly model: string }).model).toBe('claude-sonnet-5-5')
    },
  },
  {
    name: '--settings with permissions',
    run: async () => {
      const settings = JSON.stringify({ permissions: { deny: ['Bash(touch:*)'] } })
      expect(await made(['--settings', settings, '--dangerously-skip-permissions'], command('touch made'))).toBe(false)
    },
  },
  {
    name: 'the user’s permissions in ~/.claude/settings.json count, and not with --setting-sources=project',
    run: async () => {
      const settings = JSON.stringify({ permissions: { allow: ['Bash(touch:*)'] } })
      const home = tempDir({ '.claude/settings.json': settings })
      const [one, other] = [repository(), repository()]
      await claude(['-p', 'go'], { replies: command('touch made'), cwd: one, home })
      await claude(['-p', '--setting-sources=project', 'go'], { replies: command('touch made'), cwd: other, home })
      expect([existsSync(join(one, 'made')), existsSync(join(other, 'made'))]).toEqual([true, false])
    },
  },
  {
    name: '--mcp-config, and --strict-mcp-config without the configured servers',
    run: async () => {
      const server = (name: string): string =>
        JSON.stringify({ mcpServers: { [name]: { command: 'false', args: [] } } })
      const args = ['-p', '--output-format', 'stream-json', '--verbose', '--mcp-config', server('given'), '--']
      const home = tempDir({ '.claude.json': server('configured') })
      const names = ({ messages }: Ended): readonly string[] =>
        (messages[0]?.['mcp_servers'] as { readonly name: string }[]).map(({ name }) => name)
      expect(names(await claude([...args, 'go'], { replies: hi, home }))).toEqual(['given', 'configured'])
      expect(names(await claude(['--strict-mcp-config', ...args, 'go'], { replies: hi, home }))).toEqual(['given'])
    },
  },
  {
    name: '--add-dir lets commands write there',
    run: async () => {
      const folder = tempDir()
      const args = ['-p', '--dangerously-skip-permissions', '--add-dir', folder, '--', 'go']
      await claude(args, { replies: command(`echo in > ${folder}/made`) })
      expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('in\n')
    },
  },
  {
    name: 'the command line of an evaluation',
    run: async () => {
      const args = [
        '--session-id',
        randomUUID(),
        '--dangerously-skip-permissions',
        '--model',
        'claude-opus-5-5',
        '--print',
      ]
      const format = ['--output-format', 'stream-json', '--verbose', '--', 'go']
      const ended = await claude([...args, ...format], { replies: command('ls') })
      expect([ended.code, resultIn(ended.messages).subtype]).toEqual([0, 'success'])
    },
  },
  {
    name: '-v prints a version above the floor of the clients',
    run: async () => {
      expect((await claude(['-v'], { replies: [] })).stdout).toMatch(/^2\.\d+\.\d+ \(Claude Code .*Portcullis/)
    },
  },
]
