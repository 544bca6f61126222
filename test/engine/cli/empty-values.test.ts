import { expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const run = ['exec', '-m', 'replay:gone.jsonl']
const batch = ['batch', 'run', 'tasks.jsonl', '-o', 'out']
const sandbox = ['sandbox']

test.each([
  ...['--verify', '-C', '--add-dir', '--output-schema', '--max-cost', '--timeout', '-s'].map((name) => [...run, name]),
  ...['--verify', '-C', '--add-dir', '--max-cost'].map((name) => [...batch, name]),
  ...['--deny-read', '--writable', '-C', '--allow-host', '--limit', '--service'].map((name) => [...sandbox, name]),
])('an option with the value of an unset variable is wrong usage: %s %s %s %s %s %s', async (...words) => {
  const [name = ''] = words.slice(-1)
  const [cwd, home] = [repository(), tempDir()]
  for (const empty of ['', '  ']) {
    const rest = words[0] === 'sandbox' ? ['--', 'true'] : ['x']
    const { code, stderr } = await agent([...words, empty, ...(words[0] === 'batch' ? [] : rest)], { cwd, home })
    expect([code, stderr], stderr).toEqual([
      2,
      expect.stringMatching(new RegExp(`option '[^']*${name}\\b[^']*' .* is empty`)),
    ])
  }
})
