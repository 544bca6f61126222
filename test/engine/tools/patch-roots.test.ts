import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const changes = ({ events }: Exec) =>
  events.flatMap((event) => (event.type === 'item.completed' && event.item.type === 'file_change' ? [event.item] : []))

const patch = (text: string): string => `*** Begin Patch\n${text}*** End Patch\n`
const added = (path: string): string => `*** Add File: ${path}\n+new\n`
const says = (text: string): readonly Reply[] => [[freeform('apply_patch', patch(text))], [say('ok')]]

describe.skipIf(needsBubblewrap())('a patch changes what commands may write to', () => {
  test('in the directories of --add-dir too, together with the workspace', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const extra = tempDir({ 'b.txt': 'b\n' })
    const text = `*** Update File: a.txt\n@@\n-a\n+edited\n*** Update File: ${extra}/b.txt\n@@\n-b\n+edited\n`
    const ended = await exec(says(text), ['--json', '--add-dir', extra, 'x'], { cwd })
    expect(changes(ended)).toMatchObject([
      { status: 'completed', changes: [{ path: join(cwd, 'a.txt') }, { path: join(extra, 'b.txt') }] },
    ])
    expect([join(cwd, 'a.txt'), join(extra, 'b.txt')].map((path) => readFileSync(path, 'utf8'))).toEqual([
      'edited\n',
      'edited\n',
    ])
  })

  test('even if the directory was given as a link, or the patch is typed into a shell there', async () => {
    const extra = tempDir()
    const link = join(tempDir(), 'link')
    symlinkSync(extra, link)
    const typed = call('exec_command', { cmd: `cd ${link} && apply_patch <<'EOF'\n${patch(added('typed.txt'))}EOF` })
    const replies: readonly Reply[] = [
      [freeform('apply_patch', patch(added(`${link}/made.txt`)))],
      [typed],
      [say('ok')],
    ]
    const ended = await exec(replies, ['--json', '--add-dir', link, 'x'], { cwd: repository() })
    expect(changes(ended)).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    expect([existsSync(join(extra, 'made.txt')), existsSync(join(extra, 'typed.txt'))]).toEqual([true, true])
  })

  test.each([
    ['outside of them all', 'outside/f'],
    ['through a link that leads out of one', 'extra/leads-out/f'],
    ["what is git's own in one", 'extra/.git/hooks/pre-commit'],
    ["what is the agent's own in one", 'extra/.portcullis/config.toml'],
    ['beside one whose name it begins with', 'extra-not/f'],
  ])('but nothing %s', async (_, path) => {
    const base = tempDir()
    for (const folder of ['outside', 'extra/.git', 'extra-not']) mkdirSync(join(base, folder), { recursive: true })
    symlinkSync(join(base, 'outside'), join(base, 'extra/leads-out'))
    const cwd = repository()
    const text = `${added('with-it.txt')}${added(join(base, path))}`
    const ended = await exec(says(text), ['--json', '--add-dir', join(base, 'extra'), 'x'], { cwd })
    expect(changes(ended)).toMatchObject([{ status: 'failed', verdict: { decision: 'deny' } }])
    expect(ended.events.at(-1)).toMatchObject({ denied: 1 })
    expect([existsSync(join(base, path)), existsSync(join(cwd, 'with-it.txt'))]).toEqual([false, false])
    expect(existsSync(dirname(join(base, 'outside/f'))) && existsSync(join(base, 'outside/f'))).toBe(false)
  })
})
