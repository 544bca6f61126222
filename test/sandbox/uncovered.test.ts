import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  test('only a hidden file that the host replaces meanwhile is reported, once', async () => {
    const [workspace, other] = [await temporaryDirectory(), await temporaryDirectory()]
    const [hidden, quiet] = [join(other, 'hidden'), join(other, 'quiet')]
    for (const file of [hidden, quiet]) await writeFile(file, 'old')
    await mkdir(join(workspace, 'sub'))
    const policy = parsePolicy({
      mode: 'workspace-write',
      workspace,
      readableRoots: [...readableRoots, other],
      deniedReads: [hidden, quiet],
    })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    const whileItRuns = async (act: () => Promise<void>): Promise<readonly string[]> => {
      const go = 'touch sub/started; until [ -e sub/go ]; do sleep 0.05; done; rm sub/go sub/started'
      const ended = run(sandbox, go)
      while (!existsSync(join(workspace, 'sub/started'))) await wait(20)
      await act()
      await writeFile(join(workspace, 'sub/go'), '')
      return (await ended).result.denials.map(({ subject }) => subject)
    }
    const replace = async (): Promise<void> => {
      await writeFile(join(other, 'next'), 'new')
      await rename(join(other, 'next'), hidden)
    }
    expect(await whileItRuns(() => writeFile(quiet, 'written in place'))).toEqual([])
    expect(await whileItRuns(replace)).toEqual([
      `${hidden} only until a program outside the sandbox replaced that file; from then on, this command could read the new file`,
    ])
    expect((await run(sandbox, `cat ${hidden} 2>/dev/null; true`)).stdout).toBe('')
    expect(await whileItRuns(replace)).toEqual([])
    expect(await readFile(hidden, 'utf8')).toBe('new')
  })
})
