import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { startMockOpenAI } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Answer = { readonly status?: number; readonly body: unknown }

/** Starts a server that answers each request with what `answer` returns. Returns its address and the requests. */
async function serve(answer: (request: IncomingMessage) => Answer) {
  const requests: { url: string | undefined; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push({ url: request.url, headers: request.headers })
    const { status = 200, body } = answer(request)
    response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const listOf = (...ids: readonly string[]): Answer => ({
  body: { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) },
})

function place(config = ''): { readonly cwd: string; readonly home: string } {
  const [cwd, home] = [tempDir(), tempDir()]
  mkdirSync(join(home, '.config/portcullis'), { recursive: true })
  writeFileSync(join(home, '.config/portcullis/config.toml'), config)
  return { cwd, home }
}

type Told = {
  readonly provider: string
  readonly models: readonly { readonly name: string; readonly price: { readonly input: number } | null }[]
  readonly problem: string | null
}

const told = (stdout: string): readonly Told[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told)

test('lists what OpenAI, Anthropic and a provider of one’s own offer, as -m takes it, with the prices known here', async () => {
  const openai = await serve(() => listOf('gpt-5.5', 'gpt-9.9-strange', 'whisper-1'))
  const anthropic = await serve(({ url = '' }) =>
    url.includes('after_id=claude-opus-5')
      ? { body: { data: [{ type: 'model', id: 'claude-haiku-4-5' }], has_more: false, last_id: 'claude-haiku-4-5' } }
      : { body: { data: [{ type: 'model', id: 'claude-opus-5' }], has_more: true, last_id: 'claude-opus-5' } },
  )
  const mine = await serve(() => listOf('llama'))
  const at = place(
    `[model_providers.mine]\nbase_url = "${mine.url}/v1?tenant=a"\nwire_api = "chat"\n[model_prices."mine/llama"]\ninput = 1\noutput = 2\n`,
  )
  const env = {
    ...{ OPENAI_API_KEY: 'sk-openai-secret', OPENAI_BASE_URL: `${openai.url}/v1` },
    ...{ ANTHROPIC_API_KEY: 'sk-ant-secret', ANTHROPIC_BASE_URL: anthropic.url },
  }
  const words = await agent(['models'], { ...at, env })
  expect(words.stderr).toBe('')
  expect(words.code).toBe(0)
  expect(words.stdout).toMatch(
    /^openai:\n {2}gpt-5\.5 +\$[\d.]+ in, \$[\d.]+ cached, \$[\d.]+ out · context \d+ · the model of a run here$/m,
  )
  // Nothing is made up about a model that isn't known.
  expect(words.stdout).toMatch(/^ {2}gpt-9\.9-strange$/m)
  expect(words.stdout).toMatch(/^ {2}openai\/whisper-1$/m)
  expect(words.stdout).toMatch(/^anthropic:\n {2}claude-opus-5 +\$5 in.*\n {2}claude-haiku-4-5 +\$1 in/m)
  expect(words.stdout).toMatch(/^mine:\n {2}mine\/llama +\$1 in, \$1 cached, \$2 out$/m)
  expect(words.stdout).toMatch(/^ollama: Ollama can't be reached at /m)
  expect(words.stdout).not.toContain('secret')
  const { stdout } = await agent(['models', 'anthropic', '--json'], { ...at, env })
  expect(told(stdout)).toMatchObject([
    { provider: 'anthropic', problem: null, models: [{ name: 'claude-opus-5', price: { input: 5 } }, {}] },
  ])
  expect(openai.requests[0]).toMatchObject({ url: '/v1/models', headers: { authorization: 'Bearer sk-openai-secret' } })
  expect(anthropic.requests[0]).toMatchObject({
    url: '/v1/models?limit=1000',
    headers: { 'x-api-key': 'sk-ant-secret', 'anthropic-version': '2023-06-01' },
  })
  expect(mine.requests[0]?.url).toBe('/v1/models?tenant=a')
  expect(mine.requests[0]?.headers.authorization).toBeUndefined()
})

test('what can’t be listed is said for each provider, without its key; the exit code says whether any was asked', async () => {
  const refusing = await serve(() => ({ status: 401, body: { error: { message: 'Bad key sk-openai-secret' } } }))
  const page = await serve(() => ({ body: '<html><title>Log in</title>' }))
  const odd = await serve(() => ({ body: { models: [] } }))
  const at = place()
  const ask = (url: string) =>
    agent(['models', 'openai'], { ...at, env: { OPENAI_API_KEY: 'sk-openai-secret', OPENAI_BASE_URL: url } })
  expect(await ask(refusing.url)).toMatchObject({ code: 6, stdout: 'openai: OpenAI answered 401: Bad key [key]\n' })
  expect((await ask(page.url)).stdout).toContain('a web page (text/html), which begins: "Log in"')
  expect((await ask(odd.url)).stdout).toContain('The list of models: data')
  expect((await ask('http://127.0.0.1:1')).stdout).toMatch(
    /^openai: OpenAI can't be reached at http:\/\/127\.0\.0\.1:1/,
  )
  const without = await agent(['models'], at)
  expect(without.code).toBe(2)
  expect(without.stdout).toMatch(
    /^openai: OpenAI needs a key: set OPENAI_API_KEY or CODEX_API_KEY in the environment\.$/m,
  )
  const unknown = await agent(['models', 'nobody'], at)
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown.stderr).toContain("There is no provider 'nobody'")
})

test('a model that isn’t known, or that the provider doesn’t have, leads to the list', async () => {
  const at = place()
  execFileSync('git', ['init', '-q', at.cwd])
  const unknown = await agent(['exec', '-m', 'whisper', 'go'], at)
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('agent models')
  const mock = await startMockOpenAI({ replies: [{ status: 404, body: { error: { message: 'no such model' } } }] })
  onTestFinished(() => mock.close())
  const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: mock.baseUrl }
  const missing = await agent(['exec', '-m', 'gpt-5.5-typo', '-s', 'danger-full-access', 'go'], { ...at, env })
  expect(missing.code).toBe(6)
  expect(missing.stderr).toContain('agent models lists what your providers offer')
})
