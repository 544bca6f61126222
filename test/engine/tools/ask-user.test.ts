import { describe, expect, test } from 'vitest'
import { askUserAt } from '../../../engine/approvals/ask-user.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { openPath } from '../../support/call-path.ts'
import { call, say, startMockOpenAI, type MockOpenAI } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository } from '../../support/workspace.ts'

const ask = (question: string, more: object = {}) => call('ask_user', { question, ...more })
const done = [say('done')]
const told = ({ requests }: { readonly requests: MockOpenAI['requests'] }): string =>
  JSON.stringify(requests.at(-1)?.body)
const offered = ({ requests }: { readonly requests: MockOpenAI['requests'] }): readonly string[] =>
  (requests[0]?.body as { tools: { name: string }[] }).tools.map(({ name }) => name)

describe.skipIf(needsScript() || needsBubblewrap())('ask_user at a terminal', () => {
  const args = ['--ask-for-approval', 'untrusted', 'x']

  test('shows the question, and gives the model what the person typed', async () => {
    const ended = await execAtTerminal(
      [[ask('Which\ncolour?')], done],
      args,
      [{ after: '> ', text: 'red, please\n' }],
      {
        cwd: repository(),
      },
    )
    expect(ended.code).toBe(0)
    expect(ended.shown).toContain('The agent asks:\n\n    Which\n    colour?\n')
    expect(told(ended)).toContain('The user answered: red, please')
    expect(offered(ended)).toContain('ask_user')
  })

  test('accepts the number of a choice, or other words, and asks again after an invalid number', async () => {
    const choices = { choices: ['red', 'green'] }
    const prompt = '[1-2, or your own words] '
    const typed = ['3\n', '\n', '2\n', 'neither\n'].map((text) => ({ after: prompt, text }))
    const replies = [[ask('Which?', choices)], [ask('Which now?', choices)], done]
    const ended = await execAtTerminal(replies, args, typed, { cwd: repository() })
    expect(ended.shown).toContain('  1  red\n  2  green\n')
    expect(told(ended)).toContain('The user answered: green')
    expect(told(ended)).toContain('The user answered: neither')
  })

  test('treats the end of input as no answer, and Ctrl-C as the end of the run', async () => {
    const ended = await execAtTerminal([[ask('Which?')], done], args, [{ after: '> ', text: '\u0004' }], {
      cwd: repository(),
    })
    expect(told(ended)).toContain("The user can't answer any more: the input has ended. Decide for yourself")
    const stopped = await execAtTerminal([[ask('Which?')], done], args, [{ after: '> ', text: '\u0003' }], {
      cwd: repository(),
    })
    expect([stopped.code, stopped.requests.length]).toEqual([130, 1])
  })

  test('a question and an approval are asked one after the other, and each gets its own answer', async () => {
    const replies = [[ask('Which?'), call('exec_command', { cmd: 'touch made' })], done]
    const typed = [
      { after: '> ', text: 'red\n' },
      { after: '[y/r/a/n/s] ', text: 'n\n' },
    ]
    const ended = await execAtTerminal(replies, args, typed, { cwd: repository() })
    expect(told(ended)).toContain('The user answered: red')
    expect(told(ended)).toContain('A person refused this.')
  })

  test('a question cannot control the terminal', async () => {
    const ended = await execAtTerminal(
      [[ask('\u001b[2Kreally?', { choices: ['a\u001b[1A', 'b'] })], done],
      args,
      [{ after: 'own words] ', text: '2\n' }],
      { cwd: repository() },
    )
    expect(ended.shown).toContain(String.raw`\u{1b}[2Kreally?`)
    expect(ended.shown).toContain(String.raw`a\u{1b}[1A`)
  })

  test('is not available to agents', async () => {
    const mock = await startMockOpenAI({
      replies: ({ body }) => {
        const { input } = body as { input: readonly { role?: string; type?: string }[] }
        const isAgent = JSON.stringify(input.find(({ role }) => role === 'user')).includes('find the colour')
        if (input.at(-1)?.type === 'function_call_output') return done
        return isAgent ? [ask('Which?')] : [call('agent', { title: 'colour', prompt: 'find the colour' })]
      },
    })
    const ended = await execAtTerminal([], [...args, '-c', `openai_base_url=${mock.baseUrl}`], [], {
      cwd: repository(),
    })
    await mock.close()
    expect(ended.shown).not.toContain('The agent asks:')
    expect(JSON.stringify(mock.requests.map(({ body }) => body))).toContain('Nobody can be asked here')
  })
})

describe('ask_user with nobody there', () => {
  test('is not offered, and a call of it is refused at once', async () => {
    const ended = await exec([[ask('Which?')], done], ['-s', 'danger-full-access', '--json', 'x'], {
      cwd: repository(),
      keepStdinOpen: true,
    })
    expect(ended.code).toBe(0)
    expect(offered(ended)).not.toContain('ask_user')
    expect(told(ended)).toContain('Decide for yourself, or stop and say what information is missing.')
    expect(ended.events).toContainEqual(
      expect.objectContaining({ item: expect.objectContaining({ tool: 'ask_user', status: 'failed' }) }),
    )
  })

  test('is refused if a person is there who can’t be asked from here', async () => {
    const { call } = await openPath({ tools: builtInTools, attended: true })
    expect(await call('ask_user', { question: 'Which?' })).toEqual({
      ok: false,
      output: 'Nobody can be asked here. Decide for yourself, or stop and say what information is missing.',
    })
  })

  test('refuses invalid choices before anybody is asked', async () => {
    const { call } = await openPath({ tools: [askUserAt(() => Promise.reject(new Error('asked')))], attended: true })
    for (const choices of [['one'], ['a\nb', 'c']]) {
      const { ok, output } = await call('ask_user', { question: 'Which?', choices })
      expect([ok, output.includes('asked')]).toEqual([false, false])
    }
  })
})
