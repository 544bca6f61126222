import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import type { ModelFamily } from '../../../engine/models/index.ts'
import { createRegistry } from '../../../engine/tools/registry.ts'
import { toolSet, type ToolFacts } from '../../../engine/tools/tool-set.ts'
import { openPath } from '../../support/call-path.ts'

const nothing = { hasNetwork: false, canEscalate: false, canRemember: false }

function registryFor(facts: ToolFacts) {
  return createRegistry({ builtIn: toolSet(builtInTools, facts), deferral: { mode: 'auto', percent: 10 } })
}

const declared = (facts: ToolFacts): readonly string[] => registryFor(facts).declarations.map(({ name }) => name)

const fieldsOf = (facts: ToolFacts, tool: string): readonly string[] => {
  const { parameters } = registryFor(facts).declarations.find(({ name }) => name === tool) ?? {}
  return Object.keys((parameters?.['properties'] ?? {}) as object)
}

describe('the declaration', () => {
  test('for GPT: patches, the shell and a plan', () => {
    const shown = [
      ...['apply_patch', 'exec_command', 'execute_tool', 'grep', 'kill_session', 'read_file'],
      ...['tool_search', 'update_plan', 'view_image', 'write_stdin'],
    ]
    expect(declared({ family: 'gpt', ...nothing })).toEqual(shown)
    expect(declared({ family: 'openai', ...nothing })).toEqual(shown)
  })

  test('for Claude and others: tools that edit text and search, and a list', () => {
    const shown = [
      ...['apply_patch', 'edit_file', 'exec_command', 'execute_tool', 'glob', 'grep', 'kill_session', 'read_file'],
      ...['todo', 'tool_search', 'write_file', 'write_stdin'],
    ]
    expect(declared({ family: 'claude', ...nothing })).toEqual(shown)
    expect(declared({ family: 'other', ...nothing })).toEqual(shown)
  })

  test.each<ModelFamily>(['gpt', 'openai', 'claude', 'other'])(
    'the rest is named to %s, but for what can only be refused and the other list',
    (family) => {
      const search = registryFor({ family, ...nothing }).declarations.find(({ name }) => name === 'tool_search')
      const unnamed = builtInTools
        .map(({ name }) => name)
        .filter((name) => !declared({ family, ...nothing }).includes(name) && !search?.description.includes(name))
      const other = family === 'gpt' || family === 'openai' ? 'todo' : 'update_plan'
      expect(unnamed.toSorted()).toEqual(['ask_user', 'shell', other, 'web_fetch'].toSorted())
    },
  )

  test('for Claude uses the terms that it was trained on', () => {
    const facts = { family: 'claude', ...nothing } as const
    expect(fieldsOf(facts, 'edit_file')).toEqual(['file_path', 'old_string', 'new_string', 'replace_all'])
    expect(fieldsOf(facts, 'read_file')).toEqual(['file_path', 'offset', 'limit'])
    expect(fieldsOf(facts, 'write_file')).toEqual(['file_path', 'content'])
  })

  test('of a command says only for GPT, which was trained on that, that it becomes a session after 10 s', () => {
    const said = (family: ModelFamily): string =>
      JSON.stringify(registryFor({ family, ...nothing }).declarations.find(({ name }) => name === 'exec_command'))
    expect(said('gpt')).toContain('even if the command is still running. Default 10000.')
    for (const family of ['openai', 'claude', 'other'] as const)
      expect(said(family)).toContain('Default: wait until it ends.')
  })

  test('includes requests for more access only if they may be granted', () => {
    const asking = ['sandbox_permissions', 'justification', 'additional_permissions', 'prefix_rule']
    expect(fieldsOf({ family: 'gpt', ...nothing }, 'exec_command')).not.toEqual(expect.arrayContaining(asking))
    const granted = { family: 'gpt', ...nothing, canEscalate: true } as const
    expect(fieldsOf(granted, 'exec_command')).toEqual(expect.arrayContaining(asking))
  })

  test('includes web_fetch if there is a network', () => {
    expect(declared({ family: 'gpt', ...nothing, hasNetwork: true })).toContain('web_fetch')
  })
})

test('a file parameter has either name, and hooks see that of the tool', async () => {
  const seen: unknown[] = []
  const { call, path } = await openPath({
    tools: builtInTools,
    hooks: {
      before: ({ input }) => (seen.push(input), Promise.resolve({ decision: 'proceed' })),
      after: (_, result) => Promise.resolve(result),
    },
  })
  writeFileSync(join(path.context.workspace, 'a.txt'), 'one\n')
  expect(await call('read_file', { file_path: 'a.txt' })).toMatchObject({ ok: true })
  expect(await call('edit_file', { file_path: 'a.txt', old_str: 'one', new_str: 'two' })).toMatchObject({ ok: true })
  expect(await call('read_file', { path: 'a.txt', file_path: 'b.txt' })).toMatchObject({ output: '     1\ttwo' })
  expect(seen).toEqual([{ path: 'a.txt' }, { path: 'a.txt', old_string: 'one', new_string: 'two' }, { path: 'a.txt' }])
})
