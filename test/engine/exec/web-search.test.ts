import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { say, search, type Reply } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { repository } from '../../support/workspace.ts'
import { wires, type WireUnderTest } from '../models/wires.ts'

const [responses, chat, messages] = wires
if (responses === undefined || chat === undefined || messages === undefined) throw new Error('there are three wires')

const wide = ['-s', 'danger-full-access']
const answer: Reply = { say: [search('how deep'), say('So deep.')], usage: { input: 1000, output: 10 } }

/** Runs `agent exec` with these additional arguments against a mock provider. */
async function run(wire: WireUnderTest, words: readonly string[], config = '', replies: readonly Reply[] = [answer]) {
  const mock = await wire.mock({ replies })
  onTestFinished(() => mock.close())
  const { args, env } = wire.agent(mock.baseUrl)
  const home = tempDir({ '.config/portcullis/config.toml': config })
  const cwd = repository()
  const ended = await agent(['exec', '--json', '-m', wire.model, ...args, ...words, 'go'], { cwd, home, env })
  const events = eventsOf(ended.stdout)
  return {
    ...ended,
    home,
    events,
    items: events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : [])),
    offered: mock.requests.map(({ body }) => JSON.stringify((body as { tools?: unknown }).tools)).join(),
    requests: mock.requests,
  }
}

describe.skipIf(needsBubblewrap())('a web search by the provider', () => {
  test('is off unless requested', async () => {
    const { offered, code } = await run(responses, wide)
    expect([code, offered.includes('"web_search"')]).toEqual([0, false])
  })

  test.each([responses, messages])('is reported as an item and paid for ($wire)', async (wire) => {
    const { items, events, offered, code, stderr } = await run(wire, [...wide, '--search'])
    expect(code, stderr).toBe(0)
    expect(offered).toContain('"type":"web_search')
    expect(items).toMatchObject([
      { type: 'web_search', query: 'how deep', action: { type: 'search' } },
      { type: 'agent_message', text: 'So deep.' },
    ])
    // A search costs one cent (ten dollars per thousand), and the tokens cost something too.
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', cost_usd: expect.toSatisfy((cost) => cost > 0.01) })
  })

  test('is part of the history of a resumed session', async () => {
    const mock = await messages.mock({ replies: [answer, [say('Yes.')]] })
    onTestFinished(() => mock.close())
    const { env } = messages.agent(mock.baseUrl)
    const [home, cwd] = [tempDir(), repository()]
    const words = ['-m', messages.model, '--search', ...wide]
    await agent(['exec', ...words, 'go'], { cwd, home, env })
    const { code, stderr } = await agent(['exec', 'resume', ...words, '--last', 'sure?'], { cwd, home, env })
    expect(code, stderr).toBe(0)
    expect(JSON.stringify(mock.requests[1]?.body)).toContain('sealed https://example.com/')
  })

  test('can be replayed from a recording', async () => {
    const recording = join(tempDir(), 'recorded.jsonl')
    await run(responses, [...wide, '--search', '--record', recording])
    expect(readFileSync(recording, 'utf8')).toContain('"web_search"')
    const ended = await agent(['exec', '--json', '-m', `replay:${recording}`, 'go'], {
      cwd: repository(),
      home: tempDir(),
    })
    expect(ended.stdout).toContain('"query":"how deep"')
  })
})

describe.skipIf(needsBubblewrap())('who decides whether it may be', () => {
  test('a provider without one is an error for the command line, and a notice for the configuration', async () => {
    const insisted = await run(chat, [...wide, '--search'])
    expect([insisted.code, insisted.requests.length]).toEqual([2, 0])
    expect(insisted.stderr).toContain('--search: the provider of local/qwen3 has no web search')
    const configured = await run(chat, wide, 'web_search = "live"\n', [[say('ok')]])
    expect(configured.code).toBe(0)
    expect(configured.items[0]).toMatchObject({ type: 'error', message: expect.stringContaining('has no web search') })
  })

  test('the user, on the command line: --search is enough', async () => {
    for (const args of [[], ['--ask-for-approval', 'untrusted']]) {
      const { offered, code, stderr } = await run(responses, [...args, '--search'])
      expect([code, offered.includes('"web_search"')], stderr).toEqual([0, true])
    }
  })

  test('the network: if commands have none, a search that only the configuration requests is off, and the run says how to allow it', async () => {
    const { items, offered, code } = await run(responses, [], 'web_search = "live"\n')
    expect([code, offered.includes('"web_search"')]).toEqual([0, false])
    expect(items[0]).toMatchObject({
      type: 'error',
      message: expect.stringMatching(/^No web search in this run: .*the permission WebSearch/),
    })
  })

  test('an allow-list: results come only from its domains', async () => {
    const config = '[sandbox_workspace_write]\nallowed_hosts = ["docs.example.com:443", "*.example.org", "10.0.0.1"]\n'
    const { offered } = await run(responses, ['--search'], config)
    expect(offered).toContain('"allowed_domains":["docs.example.com","example.org"]')
  })

  test('the permission WebSearch: it allows what the network does not, and forbids what it does', async () => {
    const allowed = await run(responses, ['--search'], '[permissions]\nallow = ["WebSearch"]\n')
    expect(allowed.offered).toContain('"web_search"')
    const deny = '[permissions]\ndeny = ["WebSearch"]\n'
    const refused = await run(responses, [...wide, '--search'], deny)
    expect([refused.code, refused.requests.length]).toEqual([2, 0])
    expect(refused.stderr).toMatch(/--search: .*WebSearch/)
    const denied = await run(responses, wide, `web_search = "live"\n${deny}`)
    expect([denied.code, denied.offered.includes('"web_search"')]).toEqual([0, false])
  })

  test('a rule: because a forbidden host could be read, the search is off', async () => {
    const config = '[permissions]\ndeny = ["WebFetch(domain:evil.example.com)"]\n'
    const { offered, items } = await run(responses, wide, `web_search = "live"\n${config}`)
    expect(offered).not.toContain('"web_search"')
    expect(JSON.stringify(items[0])).toContain("can't be prevented from reaching it")
    const insisted = await run(responses, [...wide, '--search'], config)
    expect([insisted.code, insisted.requests.length]).toEqual([2, 0])
    expect(insisted.stderr).toContain("can't be prevented from reaching it")
  })
})
