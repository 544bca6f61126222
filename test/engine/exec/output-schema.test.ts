import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const answer = {
  type: 'object',
  properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['name', 'tags'],
  additionalProperties: false,
}
/** A schema that no provider can be made to enforce, because a property may be missing. */
const loose = { ...answer, required: ['name'] }
const good = '{"name":"x","tags":["a"]}'

async function run(schema: object, replies: readonly Reply[], ...more: readonly string[]): Promise<Exec> {
  const file = join(tempDir({ 'schema.json': JSON.stringify(schema) }), 'schema.json')
  const args = ['-s', 'danger-full-access', '--output-schema', file, ...more, 'x']
  return exec(replies, args, { cwd: repository() })
}

const input = ({ requests }: Exec, index: number): string => JSON.stringify(requests[index]?.body)

describe('a schema that the provider enforces', () => {
  test('may begin with a byte-order mark, as PowerShell writes it', async () => {
    const file = join(tempDir({ 'schema.json': `\uFEFF${JSON.stringify(answer)}` }), 'schema.json')
    const ended = await exec([[say(good)]], ['-s', 'danger-full-access', '--output-schema', file, 'x'], {
      cwd: repository(),
    })
    expect(ended).toMatchObject({ code: 0, stdout: `${good}\n` })
  })

  test('is passed to it, and the final message is the JSON', async () => {
    const cwd = repository()
    const file = join(tempDir({ 'schema.json': JSON.stringify(answer) }), 'schema.json')
    const ended = await exec(
      [[say('looking'), call('exec_command', { cmd: 'true' })], [say(good)]],
      ['-s', 'danger-full-access', '--output-schema', file, '-o', 'last.json', 'x'],
      { cwd },
    )
    expect(ended).toMatchObject({ code: 0, stdout: `${good}\n` })
    expect(ended.requests[0]?.body).toMatchObject({
      text: { format: { type: 'json_schema', strict: true, schema: answer } },
    })
    expect(input(ended, 0)).not.toContain('structured_output')
    expect(readFileSync(join(cwd, 'last.json'), 'utf8')).toBe(good)
  })

  test('is also checked here: errors are sent back to the model until the message is valid', async () => {
    const wrong = [say('Here you are!'), say('{"name":7,"tags":[],"more":1}')]
    const ended = await run(answer, [...wrong.map((one) => [one]), [say(good)]], '--json')
    expect(ended.code).toBe(0)
    expect(input(ended, 1)).toContain('not JSON')
    expect(input(ended, 2)).toContain('/name: must be string')
    expect(input(ended, 2)).toContain('must NOT have additional properties: \\"more\\"')
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed' })
  })

  test('fails the run with exit code 1 if the message is still invalid after three corrections', async () => {
    const wrong: Reply = [say('{"name":7}')]
    const ended = await run(answer, [wrong, wrong, wrong, wrong, [say('never asked')]], '--json')
    expect(ended.code).toBe(1)
    expect(ended.requests).toHaveLength(4)
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'failed',
      exit_code: 1,
      error: { message: expect.stringMatching(/after 3 corrections:\n.*\/name: must be string/s) },
    })
  })
})

describe('a schema that the provider cannot enforce', () => {
  test('becomes the input of a tool, and the delivered input is the final message', async () => {
    const ended = await run(loose, [[call('structured_output', { name: 'x' })]], '--json')
    expect(ended.code).toBe(0)
    expect(ended.requests).toHaveLength(1)
    const { tools, text } = ended.requests[0]?.body as { tools: readonly { name: string }[]; text?: unknown }
    expect(text).toEqual({ verbosity: 'low' })
    expect(tools.find(({ name }) => name === 'structured_output')).toMatchObject({ parameters: loose })
    expect(ended.events.findLast((event) => event.type === 'item.completed')).toMatchObject({
      item: { type: 'agent_message', text: '{"name":"x"}' },
    })
  })

  test('requires a valid call of the tool', async () => {
    const replies: Reply[] = [
      [say('It is x.')],
      [call('structured_output', { nam: 'x' })],
      [call('exec_command', { cmd: 'true' }), call('structured_output', { name: 'x' })],
    ]
    const ended = await run(loose, replies)
    expect(ended).toMatchObject({ code: 0, stdout: '{"name":"x"}\n' })
    expect(input(ended, 1)).toContain('Deliver the result by calling structured_output')
    expect(input(ended, 2)).toContain("/: must have required property 'name'")
  })

  test('can also be met by a message', async () => {
    expect(await run(loose, [[say('{"name":"x"}')]])).toMatchObject({ code: 0, stdout: '{"name":"x"}\n' })
  })

  test('that is never met fails the run with exit code 1', async () => {
    const wrong = (at: number): Reply => [call('structured_output', { name: at })]
    const ended = await run(loose, [0, 1, 2, 3, 4].map(wrong), '--json')
    expect(ended.code).toBe(1)
    expect(ended.requests).toHaveLength(4)
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'failed' })
  })

  test('need not describe an object', async () => {
    const list = { type: 'array', items: { $ref: '#/$defs/tag' }, $defs: { tag: { enum: ['a', 'b'] } } }
    const ended = await run(list, [
      [call('structured_output', { result: ['c'] })],
      [call('structured_output', { result: ['a', 'b'] })],
    ])
    expect(ended).toMatchObject({ code: 0, stdout: '["a","b"]\n' })
    expect(input(ended, 1)).toContain('/0: must be equal to one of the allowed values: [\\"a\\",\\"b\\"]')
  })
})

describe('an invalid schema is refused before any request', () => {
  test.each([
    ['no JSON', '{"type":', /schema\.json: not JSON: /],
    ['no object', '7', /schema\.json: not a JSON Schema: expected an object/],
    ['a wrong type', '{"properties":{"a":{"type":"strin"}}}', /not a JSON Schema: \/properties\/a\/type: must be/],
    ['a reference to nothing', '{"$ref":"#/$defs/gone"}', /not a JSON Schema: .*#\/\$defs\/gone/],
    ['a broken pattern', '{"type":"string","pattern":"("}', /not a JSON Schema: .*regular expression/i],
    ['a draft nobody knows', '{"$schema":"http://json-schema.org/draft-03/schema#"}', /\/\$schema: '.*draft-03/],
  ])('%s', async (_, text, message) => {
    const file = join(tempDir({ 'schema.json': text }), 'schema.json')
    const ended = await exec([], ['-s', 'danger-full-access', '--output-schema', file, 'x'], { cwd: repository() })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
    expect(ended.requests).toHaveLength(0)
  })

  test('a missing file', async () => {
    const ended = await exec([], ['--output-schema', '/no/such/file', 'x'], { cwd: repository() })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain("--output-schema /no/such/file: can't be read")
  })
})
