import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { say } from '../../support/mock-openai.ts'
import { everything, madeUp, withServers } from './run-support.ts'
import { liar, testWith } from './servers-support.ts'

const done = [say('done')]
const said = ({ requests }: Awaited<ReturnType<typeof withServers>>): string => JSON.stringify(requests[0]?.body)

/** A server whose prompts return their arguments. */
const echoing = liar(`
  if (method === 'prompts/list') return send({ id, result: { prompts: [
    { name: 'two words', arguments: [{ name: 'first', required: true }, { name: 'rest' }] },
    { name: 'bare' },
  ] } })
  if (method === 'prompts/get') return send({ id, result: { messages: [{ role: 'user', content: { type: 'text', text: 'asked with ' + JSON.stringify(params.arguments) } }] } })
  send({ id, result: { tools: [] } })`).replace('{ tools: {} }', '{ tools: {}, prompts: {} }')

describe.skipIf(needsBubblewrap())("a server's prompt, named as a command", () => {
  testWith('everything')('is fetched from the server and sent instead', async () => {
    const prompt = '/mcp__everything__args-prompt Oslo'
    const ended = await withServers(everything, [done], { prompt })
    expect(ended.code, ended.stderr).toBe(0)
    expect(said(ended)).toContain("What's weather in Oslo?")
    expect(said(ended)).not.toContain('/mcp__')
  })

  const filled = {
    '/mcp__echo__two_words one': { first: 'one' },
    '/mcp__echo__two_words one two  three': { first: 'one', rest: 'two three' },
    '/mcp__echo__two_words "one two" three': { first: 'one two', rest: 'three' },
    '/mcp__echo__bare': {},
  }
  for (const [prompt, expected] of Object.entries(filled)) {
    test(`gets its arguments in order: ${prompt}`, async () => {
      const ended = await withServers(madeUp('echo', echoing), [done], { prompt })
      expect(said(ended)).toContain(JSON.stringify(`asked with ${JSON.stringify(expected)}`).slice(1, -1))
    })
  }

  const wrong = {
    '/mcp__echo__two_words': 'required, but not given: first; expected /mcp__echo__two_words FIRST [REST]',
    '/mcp__echo__bare words': 'it takes no arguments; expected /mcp__echo__bare',
    '/mcp__echo__none': 'There is no prompt /mcp__echo__none: the server offers /mcp__echo__two_words FIRST [REST]',
    '/mcp__other__none': 'There is no prompt /mcp__other__none (configured servers: echo)',
  }
  for (const [prompt, says] of Object.entries(wrong)) {
    test(`that is not available ends the run before it starts: ${prompt}`, async () => {
      const ended = await withServers(madeUp('echo', echoing), [done], { prompt })
      expect([ended.code, ended.requests.length]).toEqual([2, 0])
      expect(ended.stderr).toContain(says)
    })
  }

  test('is named in the error if there is no server at all', async () => {
    const ended = await withServers('', [done], { prompt: '/mcp__echo__bare' })
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
    expect(ended.stderr).toContain('no MCP server is configured')
  })
})
