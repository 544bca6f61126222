import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../engine/tools/define-tool.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { createRegistry, type ToolRegistry } from '../../../engine/tools/registry.ts'
import { parseDeferral, type Deferral } from '../../../engine/tools/search/deferral.ts'
import type { Tool } from '../../../engine/tools/tool.ts'
import { openPath } from '../../support/call-path.ts'
import { calls, resultsIn, says, scriptedRun } from '../../support/scripted-run.ts'

const tool = (name: string, description: string, more: Partial<Pick<Tool, 'searchHint' | 'alwaysLoad'>> = {}): Tool =>
  defineTool({
    name,
    description,
    deferred: true,
    ...more,
    input: z.object({ city: z.string().describe('A town or a village.') }),
    run: ({ city }) => Promise.resolve({ ok: true, output: `${name} of ${city}` }),
  })

const mcp = [
  tool('mcp__weather__forecast', 'Says what the weather will be.'),
  tool('mcp__weather__history', 'Says what it was.', { searchHint: 'climate records' }),
  tool('mcp__maps__route', 'Finds a way, whatever the weather.'),
  tool('mcp__notes__search', '搜索用户的笔记和文件'),
  tool('mcp__core__ping', 'Answers.', { alwaysLoad: true }),
]

/** Returns `count` tools with empty descriptions. */
const manyShort = (count: number): readonly Tool[] =>
  Array.from({ length: count }, (_, at) => tool(`mcp__many__t${at}`, ''))

const always: Deferral = { mode: 'always' }
const names = ({ declarations }: ToolRegistry): readonly string[] => declarations.map(({ name }) => name)

async function search(query: string): Promise<readonly string[]> {
  const { call } = await openPath({ tools: builtInTools, mcp, deferral: always })
  const { output } = await call('tool_search', { query })
  return output.split('\n').flatMap((line) => /^(mcp__\w+): /.exec(line)?.[1] ?? [])
}

describe('requests', () => {
  test('name deferred tools, and show the tools that find and run them', () => {
    const registry = createRegistry({ builtIn: builtInTools, mcp, deferral: always })
    expect(names(registry)).toEqual([
      ...[
        ...builtInTools
          .filter(({ declaration, deferred, headless }) => declaration !== undefined && !deferred && headless)
          .map(({ name }) => name),
        'execute_tool',
        'tool_search',
      ].toSorted(),
      'mcp__core__ping',
    ])
    expect(JSON.stringify(registry.declarations)).toContain('mcp__weather__forecast, mcp__weather__history')
  })

  test('for 200 tools are a tenth of their size without deferral', () => {
    const many = Array.from({ length: 200 }, (_, at) =>
      tool(`mcp__server__tool_${at}`, 'Does one of many things. '.repeat(12)),
    )
    const size = (mode: 'always' | 'off'): number =>
      JSON.stringify(createRegistry({ builtIn: [], mcp: many, deferral: { mode } }).declarations).length
    expect(size('always')).toBeLessThan(size('off') / 10)
  })

  test.each([
    ['off', mcp, false],
    ['always', mcp, true],
    ['auto:0%', mcp, true],
    ['auto', mcp, false],
    ['auto', [...mcp, ...manyShort(60)], false],
    ['auto', [...mcp, ...manyShort(61)], true],
    ['auto', [...mcp, tool('mcp__long__one', 'x'.repeat(90_000))], true],
    ['auto:90%', [...mcp, tool('mcp__long__one', 'x'.repeat(90_000))], false],
  ] as const)('with %s, of tools of servers (case %#)', (text, tools, deferred) => {
    const deferral = parseDeferral(text)
    if (deferral === undefined) throw new Error('not understood')
    const declared = names(createRegistry({ builtIn: [], mcp: tools, deferral }))
    expect(declared.includes('mcp__maps__route')).toBe(!deferred)
    expect(declared.includes('tool_search')).toBe(deferred)
  })

  test.each([
    ['off', false],
    ['auto', true],
    ['always', true],
  ] as const)('with %s, of tools of ours that say so: deferred is %s', (text, deferred) => {
    const builtIn = [
      tool('rare', 'Is needed rarely.'),
      builtInTools.find(({ name }) => name === 'grep') ?? tool('', ''),
    ]
    const shown = names(createRegistry({ builtIn, deferral: parseDeferral(text) ?? { mode: 'off' } }))
    expect(shown).toEqual(deferred ? ['execute_tool', 'grep', 'tool_search'] : ['grep', 'rare'])
  })

  test.each(['', 'sometimes', 'auto:', 'auto:10', 'auto:101%'])('%j is not a valid setting', (text) => {
    expect(parseDeferral(text)).toBeUndefined()
  })
})

describe('tool_search', () => {
  test('finds tools by words, and ranks names before hints before descriptions', async () => {
    expect(await search('weather')).toEqual(['mcp__weather__forecast', 'mcp__weather__history', 'mcp__maps__route'])
    expect(await search('climate')).toEqual(['mcp__weather__history'])
    expect(await search('nothing such')).toEqual([])
  })

  test('leaves out tools that lack a word with a plus', async () => {
    expect(await search('+route weather')).toEqual(['mcp__maps__route'])
    expect(await search('+climate +route')).toEqual([])
  })

  test('searches parameters after discover:', async () => {
    expect(await search('village')).toEqual([])
    expect(await search('discover:village')).toContain('mcp__maps__route')
  })

  test('finds words of scripts without spaces by pairs of characters, and needs more than one pair', async () => {
    expect(await search('搜索笔记')).toEqual(['mcp__notes__search'])
    expect(await search('搜索')).toEqual(['mcp__notes__search'])
    expect(await search('文件系统管理')).toEqual([])
    expect(await search('文件系统管理 notes')).toEqual(['mcp__notes__search'])
  })

  test('selects tools by name after select:, and says which are already loaded', async () => {
    const { call } = await openPath({ tools: builtInTools, mcp, deferral: always })
    const { output } = await call('tool_search', { query: 'select:mcp__maps__route, MCP__CORE__PING,nope' })
    expect(output).toBe(
      [
        `mcp__maps__route: Finds a way, whatever the weather.\ninput: ${JSON.stringify(mcp[0]?.declaration?.parameters)}`,
        'mcp__core__ping is already loaded: call it by its name.',
        "There is no tool 'nope'.",
      ].join('\n\n'),
    )
  })

  test('calls no tool loaded that no request contains', async () => {
    const { call } = await openPath({ tools: builtInTools, mcp, deferral: always })
    // `shell` can be called, but is never offered.
    expect(await call('tool_search', { query: 'select:shell' })).toEqual({
      ok: false,
      output: "There is no tool 'shell'.",
    })
  })

  test('names tools of servers that requests contain, but suggests none of them', async () => {
    const deferral = { mode: 'auto', percent: 10 } as const
    const { call } = await openPath({ tools: builtInTools, mcp, deferral })
    const { output } = await call('tool_search', { query: 'weather forecast' })
    expect(output.split('\n\n')[0]).toBe('mcp__weather__forecast is already loaded: call it by its name.')
    const registry = createRegistry({ builtIn: builtInTools, mcp, deferral })
    expect(registry.suggest('I need the weather forecast for the route.')).toEqual([])
  })
})

describe('execute_tool', () => {
  test('counts as a call of the tool that it names, for schema, hooks and items', async () => {
    const seen: unknown[] = []
    const { call, events } = await openPath({
      tools: builtInTools,
      mcp,
      deferral: always,
      hooks: {
        before: ({ tool: name, input }) => (seen.push({ name, input }), Promise.resolve({ decision: 'proceed' })),
        after: (_, result) => Promise.resolve(result),
      },
    })
    const name = 'mcp__weather__forecast'
    expect(await call('execute_tool', { name, input: { city: 'Ulm' } })).toEqual({ ok: true, output: `${name} of Ulm` })
    expect(seen).toEqual([{ name, input: { city: 'Ulm' } }])
    expect(events.at(-1)).toMatchObject({ item: { type: 'tool_call', tool: name, status: 'completed' } })
    expect(await call('execute_tool', { name, input: {} })).toMatchObject({
      ok: false,
      output: expect.stringContaining(`${name}: the arguments are not valid`),
    })
    expect(await call('execute_tool', { name: 'nope' })).toMatchObject({ ok: false })
    expect(await call('execute_tool', { name: 'execute_tool', input: { name } })).toMatchObject({ ok: false })
    expect(await call(name, { city: 'Ulm' })).toMatchObject({ ok: true })
  })
})

test('between turns, matching tools that were not seen yet are suggested, each once, but not before the first turn', async () => {
  const many = Array.from({ length: 40 }, (_, at) => tool(`mcp__other__thing_${at}`, 'Does something else.'))
  const { history } = await scriptedRun({
    tools: [...mcp, ...many],
    overrides: ['tool_search=always'],
    task: { type: 'prompt', prompt: 'weather forecast for a route' },
    responses: [
      () => [says('I need the weather forecast for the route.'), calls('nothing', {}, 'a')],
      () => [says('Again the weather forecast for the route.'), calls('nothing', {}, 'b')],
      () => [says('done')],
    ],
  })
  const told = history.flatMap((item) => (item.type === 'message' && item.role === 'developer' ? [item.text] : []))
  expect(told).toEqual([expect.stringMatching(/^Tools that may help: mcp__weather__forecast/)])
  expect(history.findIndex((item) => item.type === 'message' && item.role === 'developer')).toBeGreaterThan(
    history.findIndex((item) => item.type === 'tool_result'),
  )
  expect(resultsIn(history)).toHaveLength(2)
})
