import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../engine/tools/define-tool.ts'
import { createRegistry } from '../../../engine/tools/registry.ts'
import type { Tool } from '../../../engine/tools/tool.ts'

const named = (name: string, traits: { readonly enabled?: boolean; readonly headless?: boolean } = {}): Tool =>
  defineTool({
    name,
    description: `does ${name}`,
    input: z.object({ path: z.string() }),
    ...traits,
    run: () => Promise.resolve({ ok: true, output: name }),
  })

describe('a property that a definition leaves out has the safe default', () => {
  const tool = named('plain')

  test('its traits', () => {
    const { headless, enabled, deferred, alwaysLoad, searchHint, ownItems } = tool
    expect({ headless, enabled, deferred, alwaysLoad, searchHint, ownItems }).toEqual({
      headless: true,
      enabled: true,
      deferred: false,
      alwaysLoad: false,
      searchHint: '',
      ownItems: false,
    })
  })

  test('a call is neither read-only nor safe to run in parallel', () => {
    const call = tool.check({ path: 'a' })
    if (!call.valid) throw new Error(call.error)
    const nowhere = { workspace: '/', sandbox: undefined as never }
    expect([call.readOnly(nowhere), call.concurrencySafe(nowhere), call.action(nowhere)]).toEqual([
      false,
      false,
      undefined,
    ])
  })
})

test('the declaration is the JSON Schema of the input', () => {
  expect(named('plain').declaration).toEqual({
    kind: 'function',
    name: 'plain',
    description: 'does plain',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  })
})

test('a JSON Schema from elsewhere is declared unchanged', () => {
  const parameters = { type: 'object', properties: { when: { type: 'string', format: 'date' } } }
  const tool = defineTool({
    name: 'foreign',
    description: '',
    input: z.looseObject({}),
    parameters,
    run: () => Promise.resolve({ ok: true, output: '' }),
  })
  expect(tool.declaration).toMatchObject({ parameters })
})

describe('a registry', () => {
  const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name)

  test('has built-in tools by name, then those of servers by name, whatever order they came in', () => {
    const builtIn = ['b', 'a'].map((name) => named(name))
    const mcp = ['mcp__y__b', 'mcp__x__a', 'mcp__y__a'].map((name) => named(name))
    const expected = ['a', 'b', 'mcp__x__a', 'mcp__y__a', 'mcp__y__b']
    expect(names(createRegistry({ builtIn, mcp }).tools)).toEqual(expected)
    const reversed = createRegistry({ builtIn: builtIn.toReversed(), mcp: mcp.toReversed() })
    expect(names(reversed.tools)).toEqual(expected)
    expect(JSON.stringify(reversed.declarations)).toBe(JSON.stringify(createRegistry({ builtIn, mcp }).declarations))
  })

  test('keeps the first tool of a name, so that a server replaces no built-in one', () => {
    const own = named('read')
    expect(createRegistry({ builtIn: [own], mcp: [named('read')] }).find('read')).toBe(own)
  })

  test('does not contain a tool that is not enabled', () => {
    expect(createRegistry({ builtIn: [named('off', { enabled: false })] }).find('off')).toBeUndefined()
  })

  test('does not offer a tool that needs a person if nobody is there, but knows it', () => {
    const builtIn = [named('ask', { headless: false })]
    const alone = createRegistry({ builtIn })
    expect(alone.declarations).toEqual([])
    expect(alone.find('ask')).toBeDefined()
    expect(names(createRegistry({ builtIn, attended: true }).declarations)).toEqual(['ask'])
  })
})
