import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { renderApprovalTables } from '../../policies/approval-table.ts'

test('the tables in the README are what the code decides', async () => {
  const readme = readFileSync(new URL('../../policies/README.md', import.meta.url), 'utf8')
  const tables = await format(renderApprovalTables(), { parser: 'markdown' })
  expect(readme).toContain(tables.trimEnd())
})
