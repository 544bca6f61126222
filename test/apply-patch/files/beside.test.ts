import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commit, parsePatch, planPatch, undo, type Report } from '../../../apply-patch/index.ts'
import { fill, makeScene } from './tree-tools.ts'

/** Creates a tree, another one next to it, and a directory outside both. Returns their paths, and functions that plan and apply patches. */
function scene() {
  const { base, root, state, outside } = makeScene({ 'a.txt': 'a\n' })
  const other = join(base, 'other')
  fill(other, { 'b.txt': 'b\n', '.git/config': '', 'out/': '/' })
  symlinkSync(outside, join(other, 'leads-out'))
  const plan = (text: string) =>
    planPatch(parsePatch(`*** Begin Patch\n${text}*** End Patch\n`).patch, { root, beside: [other] })
  const apply = async (text: string): Promise<Report> => commit(await plan(text), { stateDirectory: state })
  return { base, root, other, outside, state, plan, apply }
}

const added = (path: string): string => `*** Add File: ${path}\n+new\n`

describe('a patch may change trees next to its own', () => {
  test('with absolute paths, in one transaction with its own tree', async () => {
    const { base, root, other, apply, state } = scene()
    const moved = `*** Update File: a.txt\n*** Move to: ${other}/moved.txt\n@@\n-a\n+edited\n`
    const report = await apply(`${moved}${added(`${other}/deep/c.txt`)}`)
    expect(report.root).toBe(base)
    expect(existsSync(join(root, 'a.txt'))).toBe(false)
    expect(readFileSync(join(other, 'moved.txt'), 'utf8')).toBe('edited\n')
    expect(readFileSync(join(other, 'deep/c.txt'), 'utf8')).toBe('new\n')
    await undo(base, { stateDirectory: state })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
    expect([existsSync(join(other, 'moved.txt')), existsSync(join(other, 'deep'))]).toEqual([false, false])
  })

  test('as its own tree, if all of the patch is in one of them', async () => {
    const { root, other, apply } = scene()
    expect((await apply(added('c.txt'))).root).toBe(root)
    expect((await apply(added('../other/c.txt'))).root).toBe(other)
  })

  test.each([
    ['../outside/x', 'outside-root'],
    ['../x', 'outside-root'],
    ['../other/leads-out/x', 'outside-root'],
    ['../other-than-that/x', 'outside-root'],
    ['../other/.git/config', 'protected'],
    ['../other/sub/.GIT/config', 'protected'],
  ])('but not %s: %s', async (path, reason) => {
    const { plan } = scene()
    await expect(plan(`${added('c.txt')}${added(path)}`)).rejects.toMatchObject({ failures: [{ reason }] })
  })

  test('and the commit checks the trees once more', async () => {
    const { root, other, outside, plan, state } = scene()
    const planned = await plan(`${added('c.txt')}${added('../other/deep/c.txt')}`)
    const [first, second] = planned.changes
    if (first === undefined || second === undefined) throw new Error('nothing planned')
    const place = { path: 'x', key: join(outside, 'x') }
    const forged = { ...planned, changes: [first, { ...second, place }] }
    await expect(commit(forged, { stateDirectory: state })).rejects.toMatchObject({ code: 'outside-root' })
    mkdirSync(join(other, 'away'))
    symlinkSync(outside, join(other, 'deep'))
    await expect(commit(planned, { stateDirectory: state })).rejects.toMatchObject({ code: 'changed' })
    expect([existsSync(join(root, 'c.txt')), existsSync(join(outside, 'c.txt'))]).toEqual([false, false])
  })
})
