import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { asksPermission, command, newSession, prompt, startRaw } from './door.ts'
import { whyNoClients, type Message } from './schema.ts'

const test = testUnlessOnCi(whyNoClients())
const hi: readonly Reply[] = [[say('Hi!')]]
const begins = ({ params }: Message): boolean =>
  (params?.['update'] as { readonly status?: string } | undefined)?.status === 'in_progress'

describe.skipIf(needsBubblewrap())('the protocol', () => {
  test('methods that nobody knows get an error, notifications nobody knows nothing, and the session goes on', async () => {
    const raw = await startRaw({ replies: hi })
    const id = await newSession(raw)
    raw.write({ method: 'session/unknown', params: {} })
    raw.write({ method: '$/unknown' })
    expect((await raw.ask('session/unknown', {})).error?.code).toBe(-32601)
    expect((await raw.ask('session/prompt', prompt(id))).result).toEqual({ stopReason: 'end_turn' })
  })

  test.each([
    ['half a line', '{"jsonrpc":"2.0","id":1,"method"\n', null, -32700],
    ['text', 'hello\n', null, -32700],
    ['an array', '[]\n', null, -32600],
    ['a message without a version', '{"id":7,"method":"initialize"}\n', 7, -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":"x","method":7}\n', 'x', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"initialize"}\n', null, -32600],
    ['parameters that are missing', '{"jsonrpc":"2.0","id":1,"method":"session/new"}\n', 1, -32602],
    ['a relative folder', '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"."}}\n', 1, -32602],
    [
      'a folder that is missing',
      '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/no/such"}}\n',
      1,
      -32603,
    ],
  ])('%s gets an error, and the next request its answer', async (_, line, id, code) => {
    const raw = await startRaw({ replies: hi })
    raw.write(line)
    const answer = await raw.next((message) => message.error !== undefined)
    expect([answer.id, answer.error?.code]).toEqual([id, code])
    expect((await raw.ask('initialize', { protocolVersion: 1 })).result).toBeDefined()
  })

  test('half a line and the end of the input end the program', async () => {
    const raw = await startRaw({ replies: hi })
    raw.child.stdin.end('{"jsonrpc":"2.0","id":1,"meth')
    expect((await raw.ended).code).toBe(0)
  })

  test('a line of 100 MB ends the program with an error', async () => {
    const raw = await startRaw({ replies: hi })
    raw.child.stdin.end('x'.repeat(100_000_000))
    const { code, stderr } = await raw.ended
    expect(code).toBe(2)
    expect(stderr).toContain('a line has more than')
  })

  test('a line of 100 MB ends the prompt in progress, of which nothing lands', async () => {
    const raw = await startRaw({ replies: command('touch made; sleep 7365.5') })
    const id = await newSession(raw)
    await raw.ask('session/set_mode', { sessionId: id, modeId: 'sandbox' })
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    await raw.next(begins)
    await expect.poll(() => isRunning('7365.5'), { timeout: 20_000 }).toBe(true)
    raw.child.stdin.end('x'.repeat(100_000_000))
    expect((await raw.ended).code).toBe(2)
    expect([isRunning('7365.5'), existsSync(join(raw.cwd, 'made'))]).toEqual([false, false])
  })

  test('a session that isn’t there gets an error, for each method', async () => {
    const raw = await startRaw({ replies: hi })
    for (const method of ['prompt', 'close', 'set_mode', 'set_config_option']) {
      const more = { modeId: 'ask', configId: 'mode', value: 'ask', prompt: [{ type: 'text', text: 'go' }] }
      const { error } = await raw.ask(`session/${method}`, { sessionId: 'nobody', ...more })
      expect([method, error?.code]).toEqual([method, -32002])
    }
    raw.write({ method: 'session/cancel', params: { sessionId: 'nobody' } })
    expect((await raw.ask('initialize', { protocolVersion: 1 })).result).toBeDefined()
  })

  test('a second prompt while one is in progress gets an error, and the first its answer', async () => {
    const raw = await startRaw({ replies: ['silence'] })
    const id = await newSession(raw)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    expect((await raw.ask('session/prompt', prompt(id))).error?.code).toBe(-32600)
    raw.write({ method: 'session/cancel', params: { sessionId: id } })
    expect((await raw.next((message) => message.id === 'p')).result).toEqual({ stopReason: 'cancelled' })
  })

  test('a cancelled prompt withdraws its open question', async () => {
    const raw = await startRaw({ replies: command('touch made') })
    const id = await newSession(raw)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    const asked = await raw.next(asksPermission)
    raw.write({ method: 'session/cancel', params: { sessionId: id } })
    const withdrawn = await raw.next(({ method }) => method === '$/cancel_request')
    expect(withdrawn.params).toEqual({ requestId: asked.id })
    expect((await raw.next((message) => message.id === 'p')).result).toEqual({ stopReason: 'cancelled' })
  })

  test('a prompt is cancelled by the id of its request, and by no other', async () => {
    const raw = await startRaw({ replies: ['silence'] })
    const id = await newSession(raw)
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    await expect.poll(() => raw.mock.requests.length).toBe(1)
    for (const requestId of ['q', id, null, 0, { p: 1 }, '__proto__', undefined])
      raw.write({ method: '$/cancel_request', params: { requestId } })
    raw.write({ method: '$/cancel_request' })
    expect((await raw.ask('session/prompt', prompt(id))).error?.code).toBe(-32600)
    raw.write({ method: '$/cancel_request', params: { requestId: 'p' } })
    expect((await raw.next((message) => message.id === 'p')).result).toEqual({ stopReason: 'cancelled' })
  })

  test('a failure of the provider is the error of the prompt', async () => {
    const raw = await startRaw({ replies: [{ status: 400, body: { error: { message: 'no such model here' } } }] })
    const { error } = await raw.ask('session/prompt', prompt(await newSession(raw)))
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('no such model here') as string })
  })

  test.each(['the input ends', 'SIGTERM'])(
    'when %s, the prompt in progress ends, and no process is left',
    async (how) => {
      const word = how === 'SIGTERM' ? '7363.5' : '7364.5'
      const raw = await startRaw({
        replies: [[call('exec_command', { cmd: `touch made; sleep ${word}` })], [say('ok')]],
      })
      const id = await newSession(raw)
      await raw.ask('session/set_mode', { sessionId: id, modeId: 'sandbox' })
      raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
      await expect.poll(() => isRunning(word), { timeout: 20_000 }).toBe(true)
      if (how === 'SIGTERM') raw.child.kill('SIGTERM')
      else raw.child.stdin.end()
      const { code, messages } = await raw.ended
      expect(code).toBe(how === 'SIGTERM' ? 143 : 0)
      expect(messages.find((message) => message.id === 'p')?.result).toEqual({ stopReason: 'cancelled' })
      expect([isRunning(word), existsSync(join(raw.cwd, 'made'))]).toEqual([false, false])
    },
  )

  test('SIGTERM ends a program without a prompt, also after one that has landed', async () => {
    const raw = await startRaw({ replies: command('touch made') })
    const id = await newSession(raw)
    await raw.ask('session/set_mode', { sessionId: id, modeId: 'sandbox' })
    await raw.ask('session/prompt', prompt(id))
    expect(existsSync(join(raw.cwd, 'made'))).toBe(true)
    raw.child.kill('SIGTERM')
    expect((await raw.ended).code).toBe(143)
  })

  test('a client that dies ends the program, and leaves no process behind', async () => {
    const raw = await startRaw({ replies: command('sleep 7362.5') })
    const id = await newSession(raw)
    await raw.ask('session/set_mode', { sessionId: id, modeId: 'sandbox' })
    raw.write({ id: 'p', method: 'session/prompt', params: prompt(id) })
    await expect.poll(() => isRunning('7362.5'), { timeout: 20_000 }).toBe(true)
    raw.child.stdout.destroy()
    raw.child.stdin.destroy()
    await expect.poll(() => raw.child.exitCode, { timeout: 20_000 }).not.toBeNull()
    expect(isRunning('7362.5')).toBe(false)
  })
})
