import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

testInBubblewrap('a thousand repositories and three thousand denied files work like a few', async () => {
  const workspace = await temporaryDirectory()
  for (let count = 1; count <= 1000; count += 1) {
    const git = join(workspace, `r${count}/.git`)
    for (const name of ['objects', 'refs', 'hooks']) await mkdir(join(git, name), { recursive: true })
    await writeFile(join(git, 'HEAD'), 'ref: refs/heads/main\n')
    await writeFile(join(git, 'config'), '[core]\n\tbare = false\n')
    for (const name of ['.env', '.env.local', '.envelope'])
      await writeFile(join(workspace, `r${count}/${name}`), 'secret')
  }
  const sandbox = await openFor({ mode: 'workspace-write', workspace, deniedReads: ['**/.env*'] })
  const script =
    'cat r*/.env*; for i in 1 500 1000; do echo evil > r$i/.git/hooks/pre-commit; done; echo made > r7/made'
  for (const _ of [1]) {
    const ran = await run(sandbox, script)
    expect(ran.stdout).toBe('')
    expect(codeOf(ran)).toBe(0)
  }
  expect(existsSync(join(workspace, 'r7/made'))).toBe(true)
  for (const name of [1, 500, 1000]) expect(existsSync(join(workspace, `r${name}/.git/hooks/pre-commit`))).toBe(false)
})

testInBubblewrap('one command can’t create so many protected places that no later command starts', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace, deniedReads: ['**/.env*'] })
  const script =
    'for i in $(seq 1000); do mkdir -p r$i/.git/objects r$i/.git/refs; echo "ref: refs/heads/m" > r$i/.git/HEAD; : > r$i/.env; done'
  expect(codeOf(await run(sandbox, script))).toBe(0)
  expect((await run(sandbox, 'ls | wc -l')).stdout.trim()).toBe('1000')
  await sandbox.close()
  const next = await openFor({ mode: 'workspace-write', workspace, deniedReads: ['**/.env*'] })
  expect((await run(next, 'ls | wc -l')).stdout.trim()).toBe('1000')
})
