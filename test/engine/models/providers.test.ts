import { describe, expect, onTestFinished, test } from 'vitest'
import { modelProviderSchema, openModel } from '../../../engine/models/index.ts'
import type { ModelOptions } from '../../../engine/models/index.ts'
import { startMockAnthropic } from '../../support/mock-anthropic.ts'
import { startMockChat } from '../../support/mock-chat.ts'
import { say } from '../../support/mock-model.ts'
import type { MockModel, Replies } from '../../support/mock-model.ts'
import { startMockOpenAI } from '../../support/mock-openai.ts'
import { collect, temporaryFolder } from './conversation.ts'

type Start = (options: { readonly replies: Replies }) => Promise<MockModel>

async function start(mock: Start, replies: Replies = () => [say('ok')]): Promise<MockModel> {
  const started = await mock({ replies })
  onTestFinished(() => started.close())
  return started
}

const open = (name: string, options: Partial<ModelOptions>) =>
  openModel(name, { env: {}, cwd: '/', retryBaseMs: 1, ...options })

const provider = (table: object) => ({ mine: modelProviderSchema.parse(table) })

describe('model_providers', () => {
  test('a complete table is used in the same way as by Codex', async () => {
    const mock = await start(startMockOpenAI)
    const modelProviders = provider({
      name: 'Mine',
      base_url: mock.baseUrl,
      wire_api: 'responses',
      env_key: 'MY_KEY',
      query_params: { 'api-version': '2026-01-01' },
      http_headers: { 'x-team': 'blue' },
      env_http_headers: { 'x-trace': 'TRACE', 'x-none': 'NOT_SET' },
      request_max_retries: 1,
      stream_max_retries: 2,
      stream_idle_timeout_ms: 1000,
    })
    await collect(await open('mine/gpt-x', { modelProviders, env: { MY_KEY: 'k1', TRACE: 't1' } }))
    expect(mock.requests[0]?.path).toBe('/v1/responses?api-version=2026-01-01')
    expect(mock.requests[0]?.body).toMatchObject({ model: 'gpt-x' })
    expect(mock.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k1', 'x-team': 'blue', 'x-trace': 't1' })
    expect(mock.requests[0]?.headers).not.toHaveProperty('x-none')
  })

  test.each([
    ['responses', startMockOpenAI],
    ['chat', startMockChat],
    ['messages', startMockAnthropic],
  ] as const)('without a key, none is sent over %s', async (wireApi, mockStart) => {
    const mock = await start(mockStart)
    const modelProviders = provider({ base_url: mock.baseUrl, wire_api: wireApi })
    await collect(await open('mine/m', { modelProviders, env: { OPENAI_API_KEY: 'x', ANTHROPIC_API_KEY: 'y' } }))
    expect(mock.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(mock.requests[0]?.headers).not.toHaveProperty('x-api-key')
  })

  test.each([
    ['responses', startMockOpenAI],
    ['chat', startMockChat],
    ['messages', startMockAnthropic],
  ] as const)('a key is a bearer token over %s', async (wireApi, mockStart) => {
    const mock = await start(mockStart)
    const modelProviders = provider({ base_url: mock.baseUrl, wire_api: wireApi, env_key: 'MY_KEY' })
    await collect(await open('mine/m', { modelProviders, env: { MY_KEY: 'k', ANTHROPIC_API_KEY: 'y' } }))
    expect(mock.requests[0]?.headers.authorization).toBe('Bearer k')
    expect(mock.requests[0]?.headers).not.toHaveProperty('x-api-key')
  })

  test('the larger of both retry counts is the limit', async () => {
    const mock = await start(startMockChat, () => ({ status: 500, body: '' }))
    const modelProviders = provider({
      base_url: mock.baseUrl,
      wire_api: 'chat',
      request_max_retries: 1,
      stream_max_retries: 2,
    })
    await expect(collect(await open('mine/m', { modelProviders, maxRetries: 9 }))).rejects.toThrow(/^mine answered 500/)
    expect(mock.requests).toHaveLength(3)
  })

  test('a missing key is reported, with how to get it', async () => {
    const modelProviders = provider({
      base_url: 'http://127.0.0.1:1',
      env_key: 'MY_KEY',
      env_key_instructions: 'Ask Ann.',
    })
    await expect(open('mine/m', { modelProviders })).rejects.toMatchObject({
      code: 'configuration',
      message: 'mine needs a key: set MY_KEY in the environment. Ask Ann.',
    })
  })

  test('a built-in provider is not redefined', async () => {
    const modelProviders = { openai: modelProviderSchema.parse({ base_url: 'http://127.0.0.1:1' }) }
    await expect(open('gpt-5.5', { modelProviders })).rejects.toThrow(
      "'model_providers.openai' would redefine a built-in provider: set 'openai_base_url', or give your provider another id.",
    )
  })

  test.each([
    [{}, /base_url/],
    [{ base_url: 'ftp://x' }, /base_url/],
    [{ base_url: 'http://x', wire_api: 'telnet' }, /wire_api/],
    [{ base_url: 'http://x', env_keys: 'A' }, /env_keys/],
    [{ base_url: 'http://x', stream_max_retries: -1 }, /stream_max_retries/],
  ])('%j is refused', (table, message) => {
    expect(() => modelProviderSchema.parse(table)).toThrow(message)
  })
})

describe('which provider a name means', () => {
  test('model_provider also applies to names that show another maker, including slashes', async () => {
    const mock = await start(startMockChat)
    const options = { modelProviders: provider({ base_url: mock.baseUrl, wire_api: 'chat' }), modelProvider: 'mine' }
    for (const name of ['gpt-oss', 'Qwen/Qwen3', 'mine/openai/gpt-oss']) await collect(await open(name, options))
    expect(mock.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
      'gpt-oss',
      'Qwen/Qwen3',
      'openai/gpt-oss',
    ])
  })

  test("a known provider's name as a prefix wins", async () => {
    const mock = await start(startMockOpenAI)
    const options = {
      modelProviders: provider({ base_url: 'http://127.0.0.1:1', wire_api: 'chat' }),
      modelProvider: 'mine',
    }
    await collect(
      await open('openai/gpt-5.5', { ...options, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: mock.baseUrl } }),
    )
    expect(mock.requests).toHaveLength(1)
  })

  test('an unknown model_provider is reported', async () => {
    await expect(open('m', { modelProvider: 'yours' })).rejects.toThrow(
      "Unknown model provider 'yours'. Known: openai, anthropic, ollama, lmstudio.",
    )
  })

  test.each(['constructor', 'toString/x', '__proto__/x'])('%s is no provider', async (name) => {
    await expect(open(name, {})).rejects.toMatchObject({ code: 'configuration' })
  })

  test('local servers need no key', async () => {
    expect((await open('ollama/qwen3', {})).name).toBe('ollama/qwen3')
    expect((await open('lmstudio/qwen3', {})).name).toBe('lmstudio/qwen3')
  })
})

describe("Anthropic's key", () => {
  test.each([
    [{ ANTHROPIC_API_KEY: 'a' }, { 'x-api-key': 'a' }, 'authorization'],
    [{ ANTHROPIC_AUTH_TOKEN: 't' }, { authorization: 'Bearer t' }, 'x-api-key'],
    [{ ANTHROPIC_API_KEY: 'a', ANTHROPIC_AUTH_TOKEN: 't' }, { 'x-api-key': 'a' }, 'authorization'],
  ])('%j', async (env, sent, absent) => {
    const mock = await start(startMockAnthropic)
    await collect(await open('claude-sonnet-5', { env: { ...env, ANTHROPIC_BASE_URL: mock.baseUrl } }))
    expect(mock.requests[0]?.headers).toMatchObject(sent)
    expect(mock.requests[0]?.headers).not.toHaveProperty(absent)
  })

  test('is asked for', async () => {
    await expect(open('claude-sonnet-5', {})).rejects.toThrow(
      'Anthropic needs a key: set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY in the environment.',
    )
  })
})

test('a key read from a file with its final line break is used without it', async () => {
  const mock = await start(startMockOpenAI)
  await collect(await open('gpt-5.5', { env: { OPENAI_API_KEY: 'sk-abc\n', OPENAI_BASE_URL: mock.baseUrl } }))
  expect(mock.requests[0]?.headers.authorization).toBe('Bearer sk-abc')
})

test.each<readonly [string, Partial<ModelOptions>]>([
  ['The key for OpenAI', { env: { OPENAI_API_KEY: 'sk-secret\nsk-other' } }],
  [
    "The header 'x-team' for mine",
    {
      modelProviders: provider({ base_url: 'http://127.0.0.1:1', http_headers: { 'x-team': 'sk-secret\u2028' } }),
      modelProvider: 'mine',
    },
  ],
])('%s is refused if it is not allowed in a header, and not quoted', async (what, options) => {
  const error: unknown = await open('gpt-5.5', options).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'configuration' })
  expect(String(error)).toContain(`${what} contains a character`)
  expect(String(error)).not.toContain('secret')
})

test('a key in a header appears in no message', async () => {
  const mock = await start(startMockChat, ({ headers }) => ({
    status: 400,
    body: `you sent ${String(headers['api-key'])} ${String(headers['x-other'])}`,
  }))
  const modelProviders = provider({
    base_url: mock.baseUrl,
    wire_api: 'chat',
    http_headers: { 'api-key': 'first-secret' },
    env_http_headers: { 'x-other': 'OTHER' },
  })
  const model = await open('mine/m', { modelProviders, env: { OTHER: 'second-secret' } })
  await expect(collect(model)).rejects.toThrow('mine answered 400: you sent [key] [key]')
})

describe('a key from a command', () => {
  const table = (baseUrl: string, script: string, more: object = {}) =>
    provider({ base_url: baseUrl, wire_api: 'chat', auth: { command: 'sh', args: ['-c', script], ...more } })
  const env = { PATH: process.env['PATH'] }

  test('is fetched, cached, and fetched again when it is due', async () => {
    const mock = await start(startMockChat)
    const cwd = await temporaryFolder()
    const count = 'echo x >> count; printf "key-%s\\n" "$(wc -l < count | tr -d " ")"'
    const kept = await open('mine/m', { modelProviders: table(mock.baseUrl, count), env, cwd })
    await collect(kept)
    await collect(kept)
    const brief = await open('mine/m', {
      modelProviders: table(mock.baseUrl, count, { refresh_interval_ms: 1 }),
      env,
      cwd,
    })
    await collect(brief)
    await new Promise((resolve) => setTimeout(resolve, 5))
    await collect(brief)
    expect(mock.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer key-1',
      'Bearer key-1',
      'Bearer key-2',
      'Bearer key-3',
    ])
  })

  test('is quoted in no message', async () => {
    const mock = await start(startMockChat, ({ headers }) => ({ status: 401, body: String(headers.authorization) }))
    const model = await open('mine/m', { modelProviders: table(mock.baseUrl, 'echo printed-secret'), env })
    await expect(collect(model)).rejects.toThrow('mine answered 401: Bearer [key]')
  })

  test.each([
    ['exit 3', {}, "Can't get the key for mine from the command 'sh': it failed with exit code 3."],
    ['sleep 5', { timeout_ms: 50 }, "Can't get the key for mine from the command 'sh': it took longer than 50 ms."],
    [
      'trap "" TERM; while :; do sleep 0.05; done',
      { timeout_ms: 50 },
      "Can't get the key for mine from the command 'sh': it took longer than 50 ms.",
    ],
    ['read line; echo ""', {}, "The command 'sh' printed no key for mine."],
  ])('%s is a configuration error, and is not repeated', async (script, more, message) => {
    const mock = await start(startMockChat)
    const model = await open('mine/m', { modelProviders: table(mock.baseUrl, script, more), env })
    await expect(collect(model)).rejects.toMatchObject({ code: 'configuration', message })
    expect(mock.requests).toHaveLength(0)
  })

  test('a missing command is reported', async () => {
    const modelProviders = provider({ base_url: 'http://127.0.0.1:1', auth: { command: '/nonexistent/key' } })
    await expect(collect(await open('mine/m', { modelProviders, env }))).rejects.toThrow(
      "Can't get the key for mine from the command '/nonexistent/key': /nonexistent/key is not an executable file",
    )
  })
})
