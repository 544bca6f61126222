import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { foldersInTerminal } from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'

test('the folders of a shell in a terminal, and of what it started, are found', async () => {
  const cwd = realpathSync(tempDir({ 'a/x': '', 'b/x': '' }))
  const line = 'cd a; (cd ../b; echo rea"dy"; sleep 30) & wait'
  const child = spawn('script', ['-qfec', line, '/dev/null'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    for await (const bytes of child.stdout) if (String(bytes).includes('ready')) break
    expect([...foldersInTerminal(child.pid ?? 0)].toSorted()).toEqual([join(cwd, 'a'), join(cwd, 'b')])
  } finally {
    child.kill('SIGKILL')
  }
})

test('a missing process has none', () => {
  expect(foldersInTerminal(2 ** 22)).toEqual([])
})
