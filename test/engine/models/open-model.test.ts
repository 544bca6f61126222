import { describe, expect, onTestFinished, test } from 'vitest'
import { openModel } from '../../../engine/models/index.ts'
import { say, startMockOpenAI } from '../../support/mock-openai.ts'
import { collect } from './conversation.ts'

const configuration = (message: RegExp): object => ({
  code: 'configuration',
  message: expect.stringMatching(message) as string,
})

describe('names', () => {
  test.each(['gpt-5.5', 'o3', 'codex-mini-latest', 'openai/gpt-5.5', 'openai/o3'])(
    '%s is an OpenAI model',
    async (name) => {
      const model = await openModel(name, { env: { OPENAI_API_KEY: 'k' }, cwd: '/' })
      expect(model.name).toBe(name)
    },
  )

  test.each(['', 'llama', 'openai/', 'nobody/gpt-5.5', 'oracle'])(
    '%j is refused with a list of accepted names',
    async (name) => {
      await expect(openModel(name, { env: { OPENAI_API_KEY: 'k' }, cwd: '/' })).rejects.toMatchObject(
        configuration(
          /^Unknown model '.*'\. Accepted: 'replay:FILE'; 'PROVIDER\/NAME' with one of the providers openai, anthropic, ollama, lmstudio;/,
        ),
      )
    },
  )

  test('the prefix is not part of what the provider sees', async () => {
    const mock = await startMockOpenAI({ replies: [[say('ok')]] })
    onTestFinished(() => mock.close())
    await collect(
      await openModel('openai/gpt-x', { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: mock.baseUrl }, cwd: '/' }),
    )
    expect(mock.requests[0]?.body).toMatchObject({ model: 'gpt-x' })
  })
})

describe('keys', () => {
  test.each([{}, { OPENAI_API_KEY: '' }])('without a key, the message names the variables: %j', async (env) => {
    await expect(openModel('gpt-5.5', { env, cwd: '/' })).rejects.toMatchObject(
      configuration(/^OpenAI needs a key: set OPENAI_API_KEY or CODEX_API_KEY in the environment\.$/),
    )
  })

  test.each([
    [{ OPENAI_API_KEY: 'a' }, undefined, 'Bearer a'],
    [{ OPENAI_API_KEY: 'a', CODEX_API_KEY: 'b' }, undefined, 'Bearer b'],
    [{ OPENAI_API_KEY: 'a', CODEX_API_KEY: 'b' }, 'c', 'Bearer c'],
  ])('%j with %s sends %s', async (env, apiKey, authorization) => {
    const mock = await startMockOpenAI({ replies: [[say('ok')]] })
    onTestFinished(() => mock.close())
    await collect(await openModel('gpt-5.5', { env, apiKey, cwd: '/', openaiBaseUrl: mock.baseUrl }))
    expect(mock.requests[0]?.headers.authorization).toBe(authorization)
  })
})

test.each(['localhost:8080', 'ftp://x/', 'nonsense', 'http://me:secret@127.0.0.1/v1'])(
  'an invalid base URL is refused: %s',
  async (openaiBaseUrl) => {
    await expect(openModel('gpt-5.5', { env: { OPENAI_API_KEY: 'k' }, cwd: '/', openaiBaseUrl })).rejects.toMatchObject(
      configuration(/^The base URL (?!.*secret)/),
    )
  },
)
