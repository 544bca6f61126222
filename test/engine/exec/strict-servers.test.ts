import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acceptableSchema } from '../../../engine/models/acceptable-schema.ts'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { everyToolScene } from '../../support/every-tool.ts'
import { call, freeform, say, think, type MockModel, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { repliesOf } from '../../support/recorded-replies.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { oddSchemas } from '../../support/odd-schemas.ts'
import { repository } from '../../support/workspace.ts'
import { liar } from '../mcp/servers-support.ts'
import { wires } from '../models/wires.ts'

// If a mock refuses a request, its test fails (test/support/refuse-nothing.ts), so these tests only have to send requests.

const fixtures = new URL('../../../fixtures/', import.meta.url).pathname

/** A mock of each provider. */
type Providers = Readonly<Record<string, MockModel>>

/** For each wire format, one model of each kind that the format treats differently. */
const models = [
  { model: 'gpt-5.5', wire: 'Responses' },
  { model: 'gpt-4.1', wire: 'Responses' },
  { model: 'claude-opus-5-5', wire: 'Messages' },
  { model: 'claude-haiku-4-5', wire: 'Messages' },
  { model: 'local/qwen3', wire: 'Chat Completions' },
  { model: 'local/devstral-2', wire: 'Chat Completions' },
  { model: 'local/gemini-3-pro', wire: 'Chat Completions' },
  { model: 'local/gpt-5.1', wire: 'Chat Completions' },
] as const
type Asked = (typeof models)[number]
const firsts = models.filter(({ model }) => ['gpt-5.5', 'claude-opus-5-5', 'local/qwen3'].includes(model))
const changes = firsts.flatMap((from) =>
  models.flatMap((to) => (to === from ? [] : [{ from, to, words: `${from.model} to ${to.model}` }])),
)

/** Runs the program with a mock of each provider. Each mock gives its own replies, in order. */
async function run(
  replies: Readonly<Record<string, readonly Reply[]>>,
  words: readonly string[],
  { cwd = repository({ 'a.txt': 'one\n' }), home = tempDir() } = {},
): Promise<Ended & { readonly providers: Providers; readonly cwd: string; readonly home: string }> {
  const providers: Record<string, MockModel> = {}
  const args: string[] = ['-s', 'danger-full-access', '-c', 'request_max_retries=0']
  const env: Record<string, string> = {}
  for (const { wire, mock, agent: pointedAt } of wires) {
    const server = (providers[wire] = await mock({ replies: replies[wire] ?? [] }))
    onTestFinished(() => server.close())
    const pointed = pointedAt(server.baseUrl)
    args.push(...pointed.args)
    Object.assign(env, pointed.env)
  }
  const ended = await agent(['exec', '--json', ...args, ...words], { cwd, home, env })
  return { ...ended, providers, cwd, home }
}

const patch = (name: string): string => `*** Begin Patch\n*** Add File: ${name}\n+one\n*** End Patch\n`
/** An id for a call that is as long as the ids of some servers, and contains characters as unusual as theirs. */
const oddId = (at: number): string => `chatcmpl-tool:${'0123456789abcdef'.repeat(4)}-${at}`

/** A response with thoughts and calls of all kinds, including a call to a tool with a name that no provider would accept. */
const work = (at: number): Reply => [
  think('First this.', `sealed-${at}-a`),
  say('Looking.'),
  call('exec_command', { cmd: 'cat a.txt' }, oddId(at)),
  think('Then that.', `sealed-${at}-b`),
  freeform('apply_patch', patch(`${at}.txt`), `${oddId(at)}p`),
  call(`functions exec: ${'x'.repeat(130)}`, { cmd: 'true' }, `${oddId(at)}f`),
  call('exec_command', '{"cmd": ', `${oddId(at)}j`),
]
const down: Reply = { status: 503, body: { error: { message: 'down' } } }
const done: Reply = [think('That is it.', 'sealed-done'), say('done')]

function expectDone({ code, stderr, stdout }: Ended): void {
  expect(code, stderr).toBe(0)
  expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'turn.completed' })
}

const asksFor = (one: Asked, ...given: readonly Reply[]): Record<string, readonly Reply[]> => ({ [one.wire]: given })

describe('no provider refuses', () => {
  test.each(models)('a run of $model that calls tools, is resumed, forked and compacted', async (one) => {
    const words = ['-m', one.model]
    const first = await run(asksFor(one, work(1), work(2), done), [...words, 'go'])
    expectDone(first)
    for (const how of ['resume', 'fork'])
      expectDone(await run(asksFor(one, work(3), done), [...words, how, '--last', 'and now?'], first))
    const long = (reply: Reply): Reply => ({ say: reply as never, usage: { input: 40_000, output: 10 } })
    const limit = ['-c', 'model_auto_compact_token_limit=30000']
    const summed = await run(
      asksFor(one, work(4), long(work(5)), done, work(6), done),
      [...words, ...limit, 'resume', '--last', 'more'],
      first,
    )
    expectDone(summed)
    expect(summed.stdout).toContain('context_compaction')
  })

  test.each(models)('a run of $model that gives an empty answer, is cut off, and overflows', async (one) => {
    const { truncated, error } = wires.find(({ wire }) => wire === one.wire) ?? wires[0]!
    const cut = (reply: readonly object[]): Reply => ({
      say: reply as never,
      end: { type: 'incomplete', reason: truncated },
    })
    const replies: readonly Reply[] = [
      work(1),
      [think('Nothing to say.', 'sealed-e')],
      [],
      cut([think('So much.', 'sealed-f'), say('It is')]),
      [say(' so.'), call('exec_command', { cmd: 'true' }, oddId(9))],
      cut([call('exec_command', '{"cmd":"tou', oddId(10))]),
      { status: 400, body: error('prompt is too long') },
      [say('Goal: it.')],
      done,
    ]
    expectDone(await run(asksFor(one, ...replies), ['-m', one.model, 'go']))
  })

  test.each(changes)('a run that falls back in the middle from $words', async ({ from, to }) => {
    const replies =
      from.wire === to.wire
        ? asksFor(from, work(1), down, work(2), done)
        : { ...asksFor(from, work(1), down), ...asksFor(to, work(2), done) }
    const fallback = ['-c', `fallback_models=${JSON.stringify([to.model])}`]
    const ended = await run(replies, ['-m', from.model, ...fallback, 'go'])
    expectDone(ended)
    expect(ended.stdout).toContain(`continuing with ${to.model}`)
  })

  test.each(changes)('a session that is resumed and forked with another model: $words', async ({ from, to }) => {
    const first = await run(asksFor(from, work(1), done), ['-m', from.model, 'go'])
    expectDone(first)
    for (const how of ['resume', 'fork'])
      expectDone(await run(asksFor(to, work(2), done), ['-m', to.model, how, '--last', 'and now?'], first))
    expectDone(await run(asksFor(from, work(3), done), ['-m', from.model, 'resume', '--last', 'and back?'], first))
  })

  test.each(changes)('an agent of another model: $words', async ({ from, to }) => {
    const home = tempDir({ '.claude/agents/other.md': `---\nname: other\nmodel: ${to.model}\n---\nYou help.\n` })
    const hand = call('agent', { title: 'help', prompt: 'Help.', agent: 'other' })
    const more = call('send_message', { to: 'agent-1', message: 'More.' })
    const own: readonly Reply[] = [[think('Hand it on.', 'sealed-h'), hand], [more], done]
    const others: readonly Reply[] = [work(1), done, work(2), done]
    const [first = done, second = done, third = done] = own
    const replies =
      from.wire === to.wire
        ? asksFor(from, first, ...others.slice(0, 2), second, ...others.slice(2), third)
        : { ...asksFor(from, ...own), ...asksFor(to, ...others) }
    expectDone(await run(replies, ['-m', from.model, 'go'], { home }))
  })

  test.each(['haiku', 'sonnet', 'opus', 'inherit'])('an agent whose model is %s', async (name) => {
    const home = tempDir({ '.claude/agents/other.md': `---\nname: other\nmodel: ${name}\n---\nYou help.\n` })
    const hand = call('agent', { title: 'help', prompt: 'Help.', agent: 'other' })
    const replies =
      name === 'inherit'
        ? { Responses: [[hand], work(1), done, done] }
        : { Responses: [[hand], done], Messages: [work(1), done] }
    const ended = await run(replies, ['-m', 'gpt-5.5', 'go'], { home })
    expectDone(ended)
    const asked = name === 'inherit' ? 'Responses' : 'Messages'
    const { body } = ended.providers[asked]?.requests.at(name === 'inherit' ? 1 : 0) ?? {}
    expect(body).toMatchObject({
      model: name === 'inherit' ? 'gpt-5.5' : expect.stringMatching(new RegExp(`^claude-${name}-`)),
    })
  })
})

describe.skipIf(needsBubblewrap())('no provider refuses the tools of a server', () => {
  test.each(firsts)('with schemas of every odd kind, and $model calls one by names that were changed', async (one) => {
    const listed = oddSchemas.map(({ name, schema }) => ({
      name,
      inputSchema: schema,
      annotations: { readOnlyHint: true },
    }))
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: ${JSON.stringify(listed)} } })
      send({ id, result: { content: [{ type: 'text', text: 'got ' + JSON.stringify(params?.arguments) }] } })`)
    const words = ['--input-type=module', '-e', source]
    const config = `mcp_servers.odd={command=${JSON.stringify(process.execPath)},args=${JSON.stringify(words)},sandbox=false,trusted=true,always_load=true}`
    const { schema, fits } = oddSchemas.find(({ name }) => name === 'names') ?? oddSchemas[0]!
    const args = acceptableSchema(schema).toSent(fits) as object
    const replies = asksFor(one, [call('mcp__odd__names', args)], done)
    const ended = await run(replies, ['-c', config, '-m', one.model, 'go'])
    expectDone(ended)
    const { requests = [] } = ended.providers[one.wire] ?? {}
    for (const { name } of oddSchemas) expect(JSON.stringify(requests[0]?.body)).toContain(`mcp__odd__${name}`)
    const after = JSON.stringify(requests[1]?.body)
    // The server got its own names. The conversation has those that the model was told.
    expect(after).toContain(JSON.stringify(`got ${JSON.stringify(fits)}`).slice(1, -1))
    expect(after).toContain('a_b')
  })
})

describe.skipIf(needsBubblewrap())('no provider refuses what the recorded runs send', () => {
  test.each(wires)('the demo, over $wire', async ({ wire, mock, model, agent: pointedAt }) => {
    const cwd = tempDir()
    cpSync(join(fixtures, 'demo/repository'), cwd, { recursive: true })
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd })
    git('init', '--quiet')
    git('add', '--all')
    git('-c', 'user.name=demo', '-c', 'user.email=demo@localhost', 'commit', '--quiet', '--message', 'a till')
    const home = tempDir({
      '.config/portcullis/rules/demo.rules': readFileSync(join(fixtures, 'demo/demo.rules'), 'utf8'),
    })
    const replies = repliesOf(join(fixtures, 'demo/conversation.jsonl'))
    const server = await mock({ replies })
    onTestFinished(() => server.close())
    const { args, env } = pointedAt(server.baseUrl)
    const ended = await agent(['exec', '--json', '-m', model, ...args, 'Mend the till.'], { cwd, home, env })
    expectDone(ended)
    expect(server.requests, wire).toHaveLength(replies.length)
  })

  test.each(wires)('the run of every tool, over $wire', async ({ wire, mock, model, agent: pointedAt }) => {
    const { cwd, home, site, args: words } = await everyToolScene()
    const recorded = repliesOf(join(fixtures, 'every-tool/conversation.jsonl'), { '<<site>>': site })
    const helper = repliesOf(join(fixtures, 'every-tool/helper.jsonl'))
    const taken = (reply: Reply): Reply =>
      // With the Chat Completions API, a run has no web search.
      wire === 'Chat Completions' && Array.isArray(reply)
        ? ((reply as readonly { readonly type: string }[]).filter(({ type }) => type !== 'search') as never)
        : reply
    const own = [...recorded, [say('{"said":"done"}')]].map(taken)
    const asked = { own: 0, helper: 0 }
    const server = await mock({
      replies: ({ body }) => {
        const isHelper = JSON.stringify(body).includes('You count.')
        return (isHelper ? helper[asked.helper++] : own[asked.own++]) ?? [say('nothing more')]
      },
    })
    onTestFinished(() => server.close())
    const { args, env } = pointedAt(server.baseUrl)
    const ended = await agent(['exec', '--json', '-m', model, ...args, ...words, 'use every tool once'], {
      cwd,
      home,
      env,
    })
    expectDone(ended)
    expect(asked.own).toBeGreaterThanOrEqual(recorded.length)
  })
})
