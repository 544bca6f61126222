import { expect, test } from 'vitest'
import { say } from '../../support/mock-model.ts'
import { collect, request } from './conversation.ts'
import { startWire, wires } from './wires.ts'

/** The name of the field that limits the length of an answer, by API. */
const names: Readonly<Record<string, string>> = {
  Responses: 'max_output_tokens',
  'Chat Completions': 'max_tokens',
  Messages: 'max_tokens',
}

test.each(wires.map((wire) => [wire.wire, wire] as const))(
  '%s gets the limit of an answer’s length',
  async (name, wire) => {
    const { mock, model } = await startWire(wire, [[say('ok')], [say('ok')]])
    await collect(model, request({ sampling: { maxOutputTokens: 3000 }, reasoningEffort: 'high' }))
    await collect(model, request({}))
    const [limited, plain] = mock.requests.map(({ body }) => body as Readonly<Record<string, unknown>>)
    expect(limited?.[names[name] ?? '']).toBe(3000)
    expect(plain?.[names[name] ?? '']).toBe(name === 'Messages' ? 64_000 : undefined)
  },
)

test("OpenAI's own models get it in the newer field of Chat Completions", async () => {
  const wire = wires.find((candidate) => candidate.wire === 'Chat Completions')
  if (wire === undefined) throw new Error('no such wire')
  for (const [model, name] of [
    ['local/gpt-5.5', 'max_completion_tokens'],
    ['local/gpt-oss:20b', 'max_tokens'],
  ] as const) {
    const { mock, model: opened } = await startWire({ ...wire, model }, [[say('ok')]])
    await collect(opened, request({ sampling: { maxOutputTokens: 3000 } }))
    expect(mock.requests[0]?.body).toMatchObject({ [name]: 3000 })
  }
})
