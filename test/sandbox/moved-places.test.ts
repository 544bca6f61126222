import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  const open = async (): Promise<{ readonly workspace: string; readonly sandbox: Sandbox }> => {
    const workspace = await temporaryDirectory()
    await mkdir(join(workspace, 'cfg/private'), { recursive: true })
    await writeFile(join(workspace, 'cfg/private/key'), 'secret')
    await writeFile(join(workspace, 'cfg/token'), 'secret')
    const deniedReads = [join(workspace, 'cfg/private'), join(workspace, 'cfg/token')]
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots, deniedReads })
    return { workspace, sandbox: closeLater(await openSandbox(policy, { backend, image })) }
  }

  test('a denied directory whose parent a command renamed is moved back and reported', async () => {
    const { workspace, sandbox } = await open()
    const ran = await run(sandbox, 'mv cfg c2')
    expect(ran.result.denials).toMatchObject([
      {
        kind: 'path',
        rule: 'deniedReads',
        subject: `${workspace}/cfg/private (it was moved to ${workspace}/c2/private, and put back)`,
      },
    ])
    expect(await readFile(join(workspace, 'cfg/private/key'), 'utf8')).toBe('secret')
    expect(await readFile(join(workspace, 'cfg/token'), 'utf8')).toBe('secret')
    await expect(stat(join(workspace, 'c2'))).rejects.toThrow('ENOENT')
    expect((await run(sandbox, 'echo fine; cat cfg/token cfg/private/key 2>/dev/null')).stdout).toBe('fine\n')
  })

  test('only files whose place is free are moved back; for the rest, the new place is reported once', async () => {
    const { workspace, sandbox } = await open()
    const ran = await run(sandbox, 'mv cfg c2; mkdir cfg; echo mine > cfg/token')
    expect(ran.result.denials.map(({ subject }) => subject)).toEqual([
      `${workspace}/cfg/private (it was moved to ${workspace}/c2/private, and put back)`,
      `${workspace}/cfg/token (it was moved to ${workspace}/c2/token, where commands of this run still cannot read it)`,
    ])
    expect(await readFile(join(workspace, 'cfg/private/key'), 'utf8')).toBe('secret')
    expect(await readFile(join(workspace, 'cfg/token'), 'utf8')).toBe('mine\n')
    const after = await run(sandbox, 'cat c2/token cfg/private/key 2>/dev/null; true')
    expect(after).toMatchObject({ stdout: '', result: { denials: [] } })
  })

  test('nothing is moved back through a link', async () => {
    const { workspace, sandbox } = await open()
    const outside = await temporaryDirectory()
    const ran = await run(sandbox, `mv cfg c2; ln -s ${outside} cfg`)
    expect(ran.result.denials.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('still cannot read it'),
      expect.stringContaining('still cannot read it'),
    ])
    await expect(stat(join(outside, 'private'))).rejects.toThrow('ENOENT')
    expect(await readFile(join(workspace, 'c2/private/key'), 'utf8')).toBe('secret')
  })

  test('a root inside another root can be removed by commands, and a link in its place gives no access', async () => {
    const [workspace, outside] = [await temporaryDirectory(), await temporaryDirectory()]
    const inner = join(workspace, 'build/out')
    await mkdir(inner, { recursive: true })
    const policy = parsePolicy({ mode: 'workspace-write', workspace, writableRoots: [inner], readableRoots })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    expect((await run(sandbox, 'rm -r build && echo removed')).stdout).toBe('removed\n')
    expect((await run(sandbox, 'mkdir -p build/out && echo made anew')).stdout).toBe('made anew\n')
    await run(sandbox, `mv build b2; mkdir build; ln -s ${outside} build/out`)
    const ran = await run(sandbox, 'echo went on; echo pwned > build/out/made')
    expect(ran.stdout).toBe('went on\n')
    await expect(stat(join(outside, 'made'))).rejects.toThrow('ENOENT')
  })
})
