import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const secret = 'zebrahorsezebrahorse'
const patch = (text: string): object => ({ input: `*** Begin Patch\n${text}\n*** End Patch` })
const almost = `${secret.slice(0, -1)}x`

describe.skipIf(needsBubblewrap())('a file with credentials that may not be read', () => {
  const changes = [
    ['edit_file', { path: 'server.key', old_string: almost, new_string: 'y' }],
    ['write_file', { path: 'server.key', content: 'y' }],
    ['apply_patch', patch(`*** Update File: server.key\n@@\n-${almost}\n+x`)],
    ['apply_patch', patch('*** Update File: server.key\n*** Move to: notes.txt')],
  ] as const

  test.each(changes)('is not there for a change if git does not track it: %s %j', async (tool, input) => {
    const cwd = repository({ 'server.key': `BEGIN\n${secret}\n` })
    const ended = await exec([[call(tool, input)], [say('Done.')]], ['--json', 'x'], { cwd })
    expect(JSON.stringify(ended.requests.slice(1))).not.toContain(secret)
    expect(ended.events.at(-1)).toMatchObject({ denied: 0 })
    expect(readFileSync(join(cwd, 'server.key'), 'utf8')).toBe(`BEGIN\n${secret}\n`)
  })

  test.each(changes)(
    'is not shown by a failing change, nor moved to where it could be read: %s %j',
    async (tool, input) => {
      const cwd = repository({ 'server.key': `BEGIN\n${secret}\n` })
      execFileSync('git', ['add', 'server.key'], { cwd })
      const ended = await exec([[call(tool, input)], [say('Done.')]], ['--json', 'x'], { cwd })
      expect(JSON.stringify(ended.requests.slice(1))).not.toContain(secret)
      expect(JSON.stringify(ended.requests[1]?.body)).toContain('Credentials are stored in')
      expect(ended.events.at(-1)).toMatchObject({ denied: 1 })
      expect(readFileSync(join(cwd, 'server.key'), 'utf8')).toContain(secret)
    },
  )

  test('can be changed by a run that has written it', async () => {
    const cwd = repository()
    const replies = [
      [call('write_file', { path: '.env', content: 'A=b\n' })],
      [call('edit_file', { path: '.env', old_string: 'A=b', new_string: 'A=c' })],
      [call('apply_patch', patch('*** Update File: .env\n@@\n-A=c\n+A=d'))],
      [say('Done.')],
    ]
    const ended = await exec(replies, ['--json', 'x'], { cwd })
    expect(ended.events.at(-1)).toMatchObject({ denied: 0 })
    expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe('A=d\n')
  })
})
