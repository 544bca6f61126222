import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { asksPermission, command, newSession, prompt, startRaw } from './door.ts'
import { whyNoClients } from './schema.ts'

const test = testUnlessOnCi(whyNoClients())
const hi: readonly Reply[] = [[say('Hi!')]]

describe.skipIf(needsBubblewrap())('a client that attacks', () => {
  test('a session that is loaded while a prompt begins keeps no prompt that nobody ends', async () => {
    const raw = await startRaw({ replies: [...hi, 'silence'] })
    const id = await newSession(raw)
    await raw.ask('session/prompt', prompt(id))
    const load = { id: 'l', method: 'session/load', params: { sessionId: id, cwd: raw.cwd, mcpServers: [] } }
    // Both arrive together. Otherwise the session may be loaded before the prompt begins.
    raw.child.stdin.cork()
    raw.write(load)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    raw.child.stdin.uncork()
    await expect.poll(() => raw.mock.requests.length, { timeout: 20_000 }).toBe(2)
    raw.child.stdin.end()
    const { code, messages } = await raw.ended
    expect(code).toBe(0)
    expect(messages.find((message) => message.id === 'l')?.error?.code).toBe(-32600)
    expect(messages.find((message) => message.id === 'p')?.result).toEqual({ stopReason: 'cancelled' })
  })

  test('a session that is closed during a prompt, and the end of the input, end the program', async () => {
    const raw = await startRaw({ replies: ['silence', 'silence'] })
    const id = await newSession(raw)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    raw.write({ id: 'c', method: 'session/close', params: { sessionId: id } })
    raw.write({ id: 'q', method: 'session/prompt', params: prompt(id) })
    raw.write({ id: 'd', method: 'session/close', params: { sessionId: id } })
    raw.child.stdin.end()
    const { code, messages } = await raw.ended
    const answerTo = (to: string): unknown => messages.find((each) => each.id === to)
    expect(code).toBe(0)
    expect(answerTo('p')).toMatchObject({ result: { stopReason: 'cancelled' } })
    for (const late of ['q', 'd']) expect(answerTo(late)).toMatchObject({ error: { code: -32002 } })
  })

  test('a broken hook file is an error of the session that reads it, and ends no other', async () => {
    const home = tempDir()
    const raw = await startRaw({ replies: hi, home })
    const id = await newSession(raw)
    mkdirSync(join(home, '.config/portcullis'), { recursive: true })
    writeFileSync(join(home, '.config/portcullis/hooks.json'), '{"hooks": {"PreToolUse": 7}}')
    const { error } = await raw.ask('session/new', { cwd: raw.cwd, mcpServers: [] })
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('hooks.json') as string })
    writeFileSync(join(home, '.config/portcullis/hooks.json'), '{}')
    expect((await raw.ask('session/prompt', prompt(id))).result).toEqual({ stopReason: 'end_turn' })
  })

  test('who is asked sees the whole command, without control characters in its title', async () => {
    const cmd = `echo \u001b[2K${'a'.repeat(300)}; touch made`
    const raw = await startRaw({ replies: command(cmd) })
    const id = await newSession(raw)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    const { id: asked, params } = await raw.next(asksPermission)
    const { title, rawInput } = params?.['toolCall'] as Readonly<Record<string, unknown>>
    expect([title, rawInput]).toEqual([cmd.replace('\u001b[2K', ''), { command: cmd }])
    raw.write({ id: asked, result: { outcome: { outcome: 'cancelled' } } })
    await raw.next((message) => message.id === 'p')
    expect(existsSync(join(raw.cwd, 'made'))).toBe(false)
  })

  test('MCP servers with odd names, addresses and headers are left out or fail, and the session goes on', async () => {
    const raw = await startRaw({ replies: () => [say('Hi!')] })
    const program = { command: '/no/such', args: [], env: [] }
    const web = { type: 'http', url: 'http://127.0.0.1:1/', headers: [] }
    const server = { ...web, name: 'x' }
    for (const given of [
      { ...program, name: '__proto__' },
      { ...program, name: '../../x' },
      { ...program, name: '' },
      { ...program, name: 'a\u0000b', env: [{ name: 'LD_PRELOAD', value: '/no/such.so' }] },
      { ...server, url: 'javascript:alert(1)' },
      { ...server, url: 'file:///etc/passwd' },
      { ...server, headers: [{ name: 'X-A', value: 'b\r\nX-C: d' }] },
      { ...server, headers: [{ name: 'a b:', value: '' }] },
    ]) {
      const { result, error } = await raw.ask('session/new', { cwd: raw.cwd, mcpServers: [given, given] })
      expect([given, error?.code ?? -32602]).toEqual([given, -32602])
      if (result === undefined) continue
      const answer = await raw.ask('session/prompt', prompt(String(result['sessionId'])))
      expect([given, answer.result ?? answer.error?.code]).toEqual([given, { stopReason: 'end_turn' }])
    }
    expect(readdirSync(raw.cwd)).toEqual(['.git'])
  })

  test('odd parameters are refused, for each method, and the next request gets its answer', async () => {
    const raw = await startRaw({ replies: hi })
    const id = await newSession(raw)
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
    const tries: readonly (readonly [method: string, params: unknown])[] = [
      ['session/new', null],
      ['session/new', { cwd: `${raw.cwd}\0`, mcpServers: [] }],
      ['session/new', { cwd: raw.cwd, mcpServers: {} }],
      ['session/new', { cwd: raw.cwd, mcpServers: [], additionalDirectories: ['relative'] }],
      ['session/new', { cwd: deep, mcpServers: [] }],
      ['session/load', { cwd: raw.cwd, mcpServers: [], sessionId: id.toUpperCase() }],
      ['session/load', { cwd: raw.cwd, mcpServers: [], sessionId: { toString: 1 } }],
      ['session/list', { cwd: '..' }],
      ['session/set_mode', { sessionId: id, modeId: 'toString' }],
      ['session/set_mode', { sessionId: id, modeId: '__proto__' }],
      ['session/set_mode', { sessionId: id, modeId: 'bypassPermissions' }],
      ['session/set_config_option', { sessionId: id, configId: '__proto__', value: 'ask' }],
      ['session/set_config_option', { sessionId: id, configId: 'approval_policy', value: 'never' }],
      ['session/set_config_option', { sessionId: id, configId: 'model', value: '../../model' }],
      ['session/set_config_option', { sessionId: id, configId: 'mode', value: ['ask'] }],
      ['session/prompt', { sessionId: id, prompt: [] }],
      ['session/prompt', { sessionId: id, prompt: [{ type: 'audio', data: '' }] }],
      ['session/prompt', { sessionId: id, prompt: [{ type: 'text', text: deep }] }],
      ['session/prompt', { sessionId: [id], prompt: [{ type: 'text', text: 'go' }] }],
      ['session/delete', { sessionId: id }],
      ['fs/read_text_file', { sessionId: id, path: '/etc/passwd' }],
      ['terminal/create', { sessionId: id, command: 'id' }],
      ['session/request_permission', { sessionId: id }],
      ['__proto__', {}],
    ]
    for (const [method, params] of tries) {
      const { error } = await raw.ask(method, params as object)
      expect([method, [-32601, -32602, -32603].includes(error?.code ?? 0)]).toEqual([method, true])
    }
    expect((await raw.ask('session/prompt', prompt(id))).result).toEqual({ stopReason: 'end_turn' })
    expect(raw.mock.requests).toHaveLength(1)
  })

  test('bytes that are no UTF-8, an unfinished surrogate and NUL are text like any other', async () => {
    const raw = await startRaw({ replies: [[say('\ud800 \u0000 \u2028 ok')]] })
    const id = await newSession(raw)
    const line = JSON.stringify({
      jsonrpc: '2.0',
      id: 'p',
      method: 'session/prompt',
      params: prompt(id, 'X\ud800\u0000'),
    })
    raw.child.stdin.write(Buffer.from(`${line}\n`.replace('X', '\xff\xfe'), 'latin1'))
    expect((await raw.next((message) => message.id === 'p')).result).toEqual({ stopReason: 'end_turn' })
  })

  test('a hundred sessions are answered, and each is its own', async () => {
    const raw = await startRaw({ replies: hi })
    const ids = await Promise.all(Array.from({ length: 100 }, () => newSession(raw)))
    expect(new Set(ids).size).toBe(100)
    expect((await raw.ask('session/prompt', prompt(String(ids[50])))).result).toEqual({ stopReason: 'end_turn' })
    await raw.ask('session/close', { sessionId: ids[0] })
    expect((await raw.ask('session/prompt', prompt(String(ids[0])))).error?.code).toBe(-32002)
  })

  test.each(['before its first request', 'while a session begins', 'while it is asked', 'while its answer is awaited'])(
    'a client that dies %s ends the program, and nothing lands',
    async (when) => {
      const raw = await startRaw({ replies: when.startsWith('while its') ? ['silence'] : command('touch made') })
      if (when.startsWith('while a'))
        raw.write({ id: 'n', method: 'session/new', params: { cwd: raw.cwd, mcpServers: [] } })
      if (when.startsWith('while i')) {
        raw.write({ id: 'p', method: 'session/prompt', params: prompt(await newSession(raw)) })
        if (when === 'while it is asked') await raw.next(asksPermission)
        else await expect.poll(() => raw.mock.requests.length).toBe(1)
      }
      raw.child.stdout.destroy()
      raw.child.stdin.destroy()
      await expect.poll(() => raw.child.exitCode, { timeout: 30_000 }).not.toBeNull()
      expect(readdirSync(raw.cwd)).toEqual(['.git'])
    },
  )
})
