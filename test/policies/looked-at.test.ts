import { expect, test } from 'vitest'
import { checkCommand, loadPermissions, type CheckOptions } from '../../policies/index.ts'
import { decide } from './decisions.ts'

const text = JSON.stringify({ permissions: { deny: ['Read(src/**)', 'Read(**/*.sec)'] } })
const options: CheckOptions = {
  approvalMode: 'on-request',
  sandbox: 'workspace-write',
  cwd: '/w',
  permissions: loadPermissions([{ path: '/w/.claude/settings.json', layer: 'user', folder: '/w', text }]),
}

test.each([
  'ls src',
  'ls -la src/',
  'find src',
  'find src -name a',
  'grep -r hi src',
  'rg hi src',
  'stat src/a.txt',
  'du src',
])('what may not be read may not be looked at by its name: %s', (line) =>
  expect(checkCommand(line, options).decision).toBe('deny'),
)

test.each([
  'ls',
  'ls docs',
  'find . -name a',
  'grep -r src docs',
  'rg hi docs',
  'stat a.txt',
  'echo src',
  'git log --oneline',
])('and what lies elsewhere may: %s', (line) => expect(checkCommand(line, options).decision).toBe('allow'))

test('an option of which only the value is unknown is still recognized', () => {
  expect(decide('git log --author="$(git config user.name)" --oneline')).toBe('allow')
  expect(decide('x=$(cat f); sort "--key=$x" f')).toBe('allow')
  expect(decide('x=$(cat f); sort "--output=$x" f')).toBe('ask')
  expect(decide('x=$(cat f); sort --key=$x f')).toBe('ask')
  expect(decide('x=$(cat f); sed "--expression=$x" f')).toBe('ask')
  expect(decide('x=$(cat f); git log "--format=$x"')).toBe('ask')
  expect(decide('x=$(cat f); grep "--file=$x" f')).toBe('ask')
})
