import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { claude, resultIn, startClaude, streaming, userMessage, type Message } from './door.ts'

const hi: readonly Reply[] = [[say('Hi!')]]
const request = (id: string, body: object): object => ({ type: 'control_request', request_id: id, request: body })
const lines = (...messages: readonly object[]): string => messages.map((each) => `${JSON.stringify(each)}\n`).join('')
const answerTo = (id: string) => (message: Message) =>
  message.type === 'control_response' && (message['response'] as { request_id: string }).request_id === id

describe.skipIf(needsBubblewrap())('the protocol', () => {
  test('a user message needs no initialize, and the end of the input ends the program', async () => {
    const ended = await claude(streaming, { replies: hi, stdin: lines(userMessage('go')) })
    expect([ended.code, resultIn(ended.messages)['result']]).toEqual([0, 'Hi!'])
  })

  test('a user message that follows initialize at once is answered as initialize says', async () => {
    const jsonSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    const begin = request('r1', { subtype: 'initialize', jsonSchema, systemPrompt: ['Be a poet.'] })
    const replies: readonly Reply[] = [[call('structured_output', { a: 1 })]]
    const { messages, requests } = await claude(streaming, { replies, stdin: lines(begin, userMessage('go')) })
    expect(resultIn(messages)['structured_output']).toEqual({ a: 1 })
    expect(JSON.stringify(requests[0]?.body)).toContain('Be a poet.')
  })

  test('a request that nobody knows gets an error, and the session goes on', async () => {
    const stdin = lines(request('r1', { subtype: 'rewind_files' }), userMessage('go'))
    const { code, messages } = await claude(streaming, { replies: hi, stdin })
    expect(messages[0]).toMatchObject({ response: { subtype: 'error', request_id: 'r1' } })
    expect([code, resultIn(messages)['result']]).toEqual([0, 'Hi!'])
  })

  test('a request without what it needs gets an error', async () => {
    const stdin = lines(request('r1', { subtype: 'set_permission_mode', mode: 'anything' }))
    const { messages } = await claude(streaming, { replies: hi, stdin })
    expect(messages).toMatchObject([{ response: { subtype: 'error', request_id: 'r1' } }])
  })

  test('messages of other programs and empty lines are passed over', async () => {
    const stdin = `\n${lines({ type: 'keep_alive' }, { type: 'control_cancel_request', request_id: 'x' }, userMessage('go'))}`
    expect((await claude(streaming, { replies: hi, stdin })).code).toBe(0)
  })

  test.each([
    ['half a line', '{"type":"user","message":{"role":"us', 'not JSON'],
    ['a line that is no object', '[1]\n', 'expected an object with a type'],
    ['a user message without content', '{"type":"user","message":{}}\n', 'content'],
  ])('%s ends the program with an error', async (_, stdin, why) => {
    const { code, stderr, requests } = await claude(streaming, { replies: hi, stdin })
    expect([code, requests]).toEqual([1, []])
    expect(stderr).toContain(why)
  })

  test('a line of 100 MB ends the program with an error', async () => {
    const { code, stderr } = await claude(streaming, { replies: hi, stdin: 'x'.repeat(100_000_000) })
    expect(code).toBe(1)
    expect(stderr).toContain('a line has more than')
  })

  test('a broken line ends the turn in progress, and lands nothing of it', async () => {
    const replies: readonly Reply[] = [[call('exec_command', { cmd: 'touch made; sleep 60' })]]
    const started = await startClaude([...streaming, '--dangerously-skip-permissions'], { replies })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'assistant')
    started.child.stdin.write('oops\n')
    const { code, messages } = await started.ended
    expect([code, resultIn(messages).subtype]).toEqual([1, 'error_during_execution'])
  })

  test('when the input ends, the turn in progress is finished first', async () => {
    const started = await startClaude([...streaming, '--dangerously-skip-permissions'], {
      replies: [[call('exec_command', { cmd: 'sleep 1' })], [say('done')]],
    })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'assistant')
    started.child.stdin.end()
    const { code, messages } = await started.ended
    expect([code, resultIn(messages)['result']]).toEqual([0, 'done'])
  })

  test('a question to a client that has closed its output is a denial', async () => {
    const started = await startClaude([...streaming, '--permission-prompt-tool=stdio'], {
      replies: [[call('exec_command', { cmd: 'touch made' })], [say('done')]],
    })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'control_request')
    started.child.stdin.end()
    const { code, messages } = await started.ended
    expect(code).toBe(0)
    expect(resultIn(messages)['permission_denials']).toHaveLength(1)
  })

  test('a client that reads no more ends the run, and leaves no process behind', async () => {
    const replies: readonly Reply[] = [
      [call('exec_command', { cmd: 'sleep 7361.5', yield_time_ms: 1000 })],
      [say('more')],
    ]
    const started = await startClaude([...streaming, '--dangerously-skip-permissions'], { replies })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'assistant')
    await expect.poll(() => isRunning('7361.5'), { timeout: 20_000 }).toBe(true)
    started.child.stdout.destroy()
    started.child.stdin.destroy()
    await expect.poll(() => started.child.exitCode, { timeout: 20_000 }).not.toBeNull()
    expect(isRunning('7361.5')).toBe(false)
  })

  test('SIGTERM ends the turn and the program, although the input is open', async () => {
    const replies: readonly Reply[] = [[call('exec_command', { cmd: 'sleep 60' })]]
    const started = await startClaude([...streaming, '--dangerously-skip-permissions'], { replies })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'assistant')
    started.child.kill('SIGTERM')
    const { code, messages } = await started.ended
    expect([code, resultIn(messages).subtype]).toEqual([143, 'error_during_execution'])
  })

  test('SIGTERM ends the program between turns, of which one has landed', async () => {
    const started = await startClaude([...streaming, '--dangerously-skip-permissions'], {
      replies: [[call('exec_command', { cmd: 'touch made' })], [say('done')]],
    })
    started.write(userMessage('go'))
    await started.next(({ type }) => type === 'result')
    expect(existsSync(join(started.cwd, 'made'))).toBe(true)
    started.child.kill('SIGTERM')
    await started.ended
    // The signal may still meet the end of the turn, and the program then ends by itself.
    expect([143, 'SIGTERM']).toContain(started.child.exitCode ?? started.child.signalCode)
  })

  test('the mode can change during a turn, but not to or from one in which nobody is asked', async () => {
    const started = await startClaude([...streaming, '--allow-dangerously-skip-permissions'], {
      replies: [[call('exec_command', { cmd: 'sleep 2; ls' })], [say('ok')]],
    })
    started.write(userMessage('go'))
    await started.next(({ subtype }) => subtype === 'init')
    started.write(request('r1', { subtype: 'set_permission_mode', mode: 'bypassPermissions' }))
    expect(await started.next(answerTo('r1'))).toMatchObject({ response: { subtype: 'error' } })
    started.write(request('r2', { subtype: 'set_permission_mode', mode: 'acceptEdits' }))
    expect(await started.next(answerTo('r2'))).toMatchObject({ response: { response: { mode: 'acceptEdits' } } })
    started.child.stdin.end()
    expect((await started.ended).code).toBe(0)
  })

  test('a call is made with the input that the client gives it', async () => {
    const replies: readonly Reply[] = [
      [call('exec_command', { cmd: 'echo one > made' })],
      [call('write_file', { path: 'other', content: 'one' })],
      [say('ok')],
    ]
    const started = await startClaude([...streaming, '--permission-prompt-tool=stdio'], { replies })
    started.write(userMessage('go'))
    for (let count = 0; count < 2; count++) {
      const { request_id, request: asked } = await started.next(({ type }) => type === 'control_request')
      const text = JSON.stringify((asked as { readonly input: object }).input).replace('one', 'two')
      const response = { behavior: 'allow', updatedInput: JSON.parse(text) as object }
      started.write({ type: 'control_response', response: { subtype: 'success', request_id, response } })
    }
    started.child.stdin.end()
    expect(resultIn((await started.ended).messages)).toMatchObject({ subtype: 'success', permission_denials: [] })
    const made = ['made', 'other'].map((name) => readFileSync(join(started.cwd, name), 'utf8').trim())
    expect(made).toEqual(['two', 'two'])
  })

  test('many refused calls don’t end a turn', async () => {
    const touch = (name: string): Reply => [call('exec_command', { cmd: `touch ${name}` })]
    const look: Reply = [call('exec_command', { cmd: 'ls' })]
    const replies = [look, ...['aa', 'bb', 'cc', 'dd', 'ee'].map(touch), [say('nothing was allowed')]]
    const { code, messages } = await claude(streaming, { replies, stdin: lines(userMessage('go')) })
    expect([code, resultIn(messages)]).toMatchObject([0, { result: 'nothing was allowed' }])
    expect(resultIn(messages)['permission_denials']).toHaveLength(5)
  })

  test('without --print, there is no interactive mode', async () => {
    const { code, stderr } = await claude(['go'], { replies: hi })
    expect(code).toBe(1)
    expect(stderr).toContain('--print')
  })
})
