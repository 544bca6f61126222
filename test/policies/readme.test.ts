import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { renderApprovalTables } from '../../policies/approval-table.ts'
import { loadRules } from '../../policies/index.ts'

test('the tables in the README match the code’s decisions', async () => {
  const readme = readFileSync(new URL('../../policies/README.md', import.meta.url), 'utf8')
  const tables = await format(renderApprovalTables(), { parser: 'markdown' })
  expect(readme).toContain(tables.trimEnd())
})

test('every rule in the README of rules can be loaded', () => {
  const path = '../../policies/rules/README.md'
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  const examples = [...text.matchAll(/```python\n([^]*?)```/g)].map(([, example = '']) => example)
  expect(examples).not.toEqual([])
  for (const example of examples) loadRules([{ path, layer: 'user', text: example }])
})
