import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { describeInBoth } from './both-backends.ts'
import { races, runRaces } from './races/races.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/** Creates a tree with a workspace, and next to it a directory that no command may read or write. */
async function makeTree(): Promise<{ readonly workspace: string; readonly outside: string }> {
  const base = await temporaryDirectory()
  const [workspace, outside] = [join(base, 'ws'), join(base, 'outside')]
  for (const directory of [outside, workspace]) await mkdir(directory)
  await writeFile(join(outside, 'key'), 'secret')
  return { workspace, outside }
}

describeInBoth('in %s', ({ backend, test }) => {
  test.each(races.filter(({ bubblewrapOnly }) => backend === 'bubblewrap' || bubblewrapOnly !== true))(
    'exchanged all the while: $name',
    async (race) => {
      const [raced] = await runRaces(backend, 10, [race])
      expect(raced?.failures).toEqual([])
    },
  )
})

testInBubblewrap(
  'a denied file that was in a root when the run began stays denied wherever commands move it',
  async () => {
    const { workspace } = await makeTree()
    const [private_, file] = [join(workspace, 'cfg', 'private'), join(workspace, 'cfg', 'token')]
    await mkdir(private_, { recursive: true })
    await writeFile(join(private_, 'key'), 'secret')
    await writeFile(file, 'secret')
    await writeFile(join(workspace, 'cfg', '.env'), 'secret')
    const deniedReads = [private_, file, '**/.env*']
    const sandbox = await openFor({ mode: 'workspace-write', workspace, deniedReads })
    await run(sandbox, 'mv cfg c2; mkdir cfg; echo mine > cfg/token')
    const read = await run(sandbox, 'cat c2/private/key c2/token c2/.env; mv c2 c3')
    expect(read.stdout).toBe('')
    expect((await run(sandbox, 'cat c3/private/key c3/token c3/.env cfg/private/key')).stdout).toBe('')
  },
)

testInBubblewrap(
  'a workspace in another root that a command replaces ends the next command, which runs nowhere',
  async () => {
    const { workspace: repository, outside } = await makeTree()
    const workspace = join(repository, 'packages', 'a')
    await mkdir(workspace, { recursive: true })
    const sandbox = await openFor({ mode: 'workspace-write', workspace, writableRoots: [repository] })
    await run(sandbox, `cd ../.. && mv packages p2 && mkdir packages && ln -s ${outside} packages/a`)
    await expect(run(sandbox, 'echo pwned > made')).rejects.toMatchObject({ code: 'path-changed' })
    await expect(readFile(join(outside, 'made'))).rejects.toThrow('ENOENT')
  },
)

testInBubblewrap('the workspace shows the original files, not those that a command linked there', async () => {
  const { workspace, outside } = await makeTree()
  const shown = join(workspace, 'shown')
  await mkdir(shown)
  const sandbox = await openFor({ mode: 'workspace-write', workspace, deniedReads: [outside], readableRoots: [shown] })
  await run(sandbox, `mv shown s2; ln -s ../outside shown; mkdir -p later; ln -s ../../outside later/x`)
  const ran = await run(sandbox, 'cat shown/key').catch((error: unknown) => error)
  if (!(ran instanceof Error)) expect(ran).toMatchObject({ stdout: '' })
})
