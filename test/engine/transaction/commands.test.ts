import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockFolder } from '../../../engine/core/folder-lock.ts'
import { agent, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const read = (cwd: string, path: string): string => readFileSync(join(cwd, path), 'utf8')

/** Performs a run whose changes by default are not landed. Returns its outcome, and a function that runs `agent` in the same directory. */
async function kept(
  command: string,
  files: Readonly<Record<string, string>>,
  args: readonly string[] = ['--land', 'never'],
) {
  const [cwd, home] = [repository(files), tempDir()]
  const ended = await exec([[call('exec_command', { cmd: command })], [say('done')]], ['--json', ...args, 'x'], {
    cwd,
    home,
  })
  const [first] = ended.events
  const id = first?.type === 'thread.started' ? first.thread_id : ''
  const directory = first?.type === 'thread.started' ? first.config.session_dir : ''
  const ask = (...words: readonly string[]): Promise<Ended> => agent([...words], { cwd, home })
  return { cwd, home, id, directory, ask, ended }
}

describe.skipIf(needsBubblewrap())('the changes of a run', () => {
  test('are shown as a list, as a diff, as JSON, and as a patch that git accepts', async () => {
    const { cwd, id, ask } = await kept('echo two >> a.txt; rm b.txt; printf "\\0x" > c.bin; mkdir e', {
      'a.txt': 'one\n',
      'b.txt': 'b\n',
    })
    const listed = await ask('changes', '--last')
    expect([listed.stdout, listed.stderr, listed.code]).toEqual([
      `${id}  not landed\nM a.txt  +1 -0\nD b.txt  +0 -1\nA c.bin  +0 -0\nA e/  +0 -0\n`,
      `The newest run here: ${id}\n`,
      0,
    ])
    expect((await ask('changes', id.slice(-8), '--diff')).stdout).toContain('+two\n')
    expect(JSON.parse((await ask('changes', id, '--json')).stdout)).toMatchObject({
      id,
      state: 'not landed',
      changes: [{ root: cwd, path: 'a.txt', kind: 'update', added: 1, removed: 0 }, {}, {}, {}],
    })
    const file = join(tempDir(), 'x.patch')
    expect((await ask('changes', id, '--patch', file)).code).toBe(0)
    execFileSync('git', ['apply', '--binary', file], { cwd })
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'b.txt')), read(cwd, 'c.bin')]).toEqual([
      'one\ntwo\n',
      false,
      '\0x',
    ])
  })

  test.each(['copy', 'overlay'])('can be tried in their view (%s) before they land, and changed there', async (how) => {
    const { cwd, id, ask } = await kept('echo two >> a.txt; git checkout -qb fix', { 'a.txt': 'one\n' }, [
      `--view=${how}`,
      '--land=never',
    ])
    const seen = await ask('view', id, '--', 'sh', '-c', 'pwd; cat a.txt; git branch --show-current; exit 7')
    expect([seen.stdout, seen.code]).toEqual([`${cwd}\none\ntwo\nfix\n`, 7])
    const readOnly = await ask('view', '-s', 'read-only', id, '--', 'sh', '-c', 'echo x >> a.txt')
    expect(readOnly.code).not.toBe(0)
    expect((await ask('view', '--last', '--', 'sh', '-c', 'echo three >> a.txt; echo new > n')).code).toBe(0)
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'n'))]).toEqual(['one\n', false])
    expect((await ask('apply', id)).code).toBe(0)
    expect([read(cwd, 'a.txt'), read(cwd, 'n')]).toEqual(['one\ntwo\nthree\n', 'new\n'])
    const late = await ask('view', id, '--', 'true')
    expect([late.code, late.stderr]).toEqual([
      2,
      expect.stringContaining(`The session ${id} has no view any more: its changes have landed.`),
    ])
    expect((await ask('undo', id)).code).toBe(0)
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'n'))]).toEqual(['one\n', false])
  })

  test('are tried only in a sandbox, by a command that is given', async () => {
    const { id, ask } = await kept('echo two > a.txt', { 'a.txt': 'one\n' })
    expect(await ask('view', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('no command given') })
    const open = await ask('view', id, '-s', 'danger-full-access', '--', 'true')
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('only a sandbox can show a view') })
  })

  test('are applied completely and once, reverted, and applied again', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; mkdir -p d/e; echo n > d/n.txt', { 'a.txt': 'a\n' })
    const applied = await ask('apply', id)
    expect([applied.code, applied.stdout]).toEqual([0, `2 files landed; to revert this, run agent undo ${id}\n`])
    expect([read(cwd, 'a.txt'), readdirSync(join(cwd, 'd'))]).toEqual(['x\n', ['e', 'n.txt']])
    expect((await ask('apply', id)).stdout).toBe('Nothing to do: the tree already has all of these changes.\n')
    expect((await ask('changes', id)).stdout).toContain('  landed\n')
    expect((await ask('undo', '--last')).stdout).toBe(`Reverted. To land the changes again, run agent apply ${id}.\n`)
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'd'))]).toEqual(['a\n', false])
    expect((await ask('undo', id)).stdout).toContain('already been reverted')
    expect((await ask('apply', '--last')).code).toBe(0)
    expect(read(cwd, 'a.txt')).toBe('x\n')
  })

  test('are applied in part, by files and by directories', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; echo y > b.txt; mkdir d; echo z > d/z.txt; echo w > d/w.txt', {
      'a.txt': 'a\n',
    })
    expect((await ask('apply', id, 'a.txt')).stdout).toContain('1 file landed')
    expect([read(cwd, 'a.txt'), readdirSync(cwd)]).toEqual(['x\n', ['.git', 'a.txt']])
    expect((await ask('apply', '--last', './d/')).stdout).toContain('2 files landed')
    expect(readdirSync(cwd)).toEqual(['.git', 'a.txt', 'd'])
    const wrong = await ask('apply', id, 'nowhere')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("The run did not change 'nowhere'")])
    const empty = await ask('apply', id, '')
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("'' is not a path")])
    expect(readdirSync(cwd)).toEqual(['.git', 'a.txt', 'd'])
  })

  test('are counted as directories if only directories changed', async () => {
    const { id, ask } = await kept('mkdir -p d/e', {})
    expect((await ask('apply', id)).stdout).toContain('2 directories landed; ')
  })

  test('are not touched while another process lands them, and the message says what that process does', async () => {
    const { id, directory, ask } = await kept('echo x > a.txt', {})
    const held = lockFolder(directory, 'running', "landing this session's changes")
    onTestFinished(() => ('lock' in held ? held.lock.release() : undefined))
    for (const words of [
      ['apply', id],
      ['discard', id],
      ['changes', id],
    ]) {
      expect(await ask(...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          `process ${process.pid} is landing this session's changes. Wait until it ends.`,
        ),
      })
    }
  })

  test('that were applied in parts are reverted by one undo', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; echo y > b.txt; echo z > c.txt', { 'a.txt': 'a\n' })
    for (const path of ['a.txt', 'b.txt']) expect((await ask('apply', id, path)).stdout).toContain('1 file landed')
    expect((await ask('apply', id)).stdout).toContain('1 file landed')
    expect((await ask('undo', id)).stdout).toBe(`Reverted. To land the changes again, run agent apply ${id}.\n`)
    expect([read(cwd, 'a.txt'), readdirSync(cwd)]).toEqual(['a\n', ['.git', 'a.txt']])
    expect((await ask('undo', id)).stdout).toContain('already been reverted')
    expect((await ask('apply', id)).stdout).toContain('3 files landed')
  })

  test('that were applied in parts are reverted as far as nobody has written to the files since, and the rest is named', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    await ask('apply', id, 'a.txt')
    await ask('apply', id)
    writeFileSync(join(cwd, 'a.txt'), 'theirs\n')
    const refused = await ask('undo', id)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/Only a part was reverted\..*a\.txt/s)])
    expect((await ask('changes', id)).stdout).toContain('taken back in part')
    expect((await ask('sessions', 'prune', '--days', '0')).stdout).toContain('0 sessions removed\n1 session kept')
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'b.txt'))]).toEqual(['theirs\n', false])
    writeFileSync(join(cwd, 'a.txt'), 'x\n')
    expect((await ask('undo', id)).stdout).toContain('Reverted.')
    expect(read(cwd, 'a.txt')).toBe('a\n')
  })

  test('that were applied in part are reverted, even if applying the rest was killed before it wrote anything', async () => {
    const { cwd, id, directory, ask } = await kept('echo x > a.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    await ask('apply', id, 'a.txt')
    const file = join(directory, 'transaction.json')
    const state = JSON.parse(readFileSync(file, 'utf8')) as { readonly landings: readonly object[] }
    const then = { state: 'landed', landings: [...state.landings, { ...state.landings[0], id: 'killed' }] }
    writeFileSync(file, JSON.stringify({ ...state, pending: { does: 'land', root: cwd, id: 'killed', then } }))
    expect((await ask('undo', id)).stdout).toContain('Reverted.')
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'b.txt'))]).toEqual(['a\n', false])
  })

  test('that conflict with somebody else’s are not applied, and both stay', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    writeFileSync(join(cwd, 'a.txt'), 'theirs\n')
    const refused = await ask('apply', id)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`${cwd}/a.txt: someone else changed the same lines`),
    ])
    expect([read(cwd, 'a.txt'), readdirSync(cwd)]).toEqual(['theirs\n', ['.git', 'a.txt']])
  })

  test('are not reverted if somebody has written to the files since', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt', { 'a.txt': 'a\n' }, [])
    writeFileSync(join(cwd, 'a.txt'), 'theirs\n')
    const refused = await ask('undo', id)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Nothing was reverted')])
    expect(read(cwd, 'a.txt')).toBe('theirs\n')
  })

  test('that were applied in part and that the session takes back are taken back in the tree, too', async () => {
    const { cwd, id, home, ask } = await kept('echo x > a.txt; echo n > n.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    await ask('apply', id, 'a.txt', 'n.txt')
    const back = call('exec_command', { cmd: 'echo a > a.txt; rm n.txt' })
    const resumed = await exec([[back], [say('done')]], ['resume', id, 'go on'], { cwd, home })
    expect([resumed.code, read(cwd, 'a.txt'), readdirSync(cwd)]).toEqual([0, 'a\n', ['.git', 'a.txt', 'b.txt']])
  })

  test('that were applied in part land again after somebody took them back', async () => {
    const { cwd, id, ask } = await kept('echo x > a.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    await ask('apply', id, 'a.txt')
    writeFileSync(join(cwd, 'a.txt'), 'a\n')
    expect((await ask('apply', id)).code).toBe(0)
    expect([read(cwd, 'a.txt'), read(cwd, 'b.txt')]).toEqual(['x\n', 'y\n'])
  })

  test('that replace a directory by a file, or by a link to itself, land', async () => {
    const files = { 'd/x.txt': 'x\n', 'e/y.txt': 'y\n' }
    const { cwd, ended } = await kept('rm -r d e; echo d > d; ln -s e e', files, [])
    expect([ended.code, read(cwd, 'd'), readlinkSync(join(cwd, 'e'))]).toEqual([0, 'd\n', 'e'])
  })

  test('that were applied in part can go on from there when the session is resumed', async () => {
    const { cwd, id, home, ask } = await kept('echo x > a.txt; echo n > n.txt; echo y > b.txt', { 'a.txt': 'a\n' })
    await ask('apply', id, 'a.txt', 'n.txt')
    const more = call('exec_command', { cmd: 'echo z > a.txt; echo m >> n.txt' })
    const resumed = await exec([[more], [say('done')]], ['resume', id, 'go on'], { cwd, home })
    expect([resumed.code, read(cwd, 'a.txt'), read(cwd, 'n.txt'), read(cwd, 'b.txt')]).toEqual([
      0,
      'z\n',
      'n\nm\n',
      'y\n',
    ])
    expect((await ask('undo', id)).stdout).toContain('Reverted.')
    expect(readdirSync(cwd)).toEqual(['.git', 'a.txt'])
  })

  test('that were reverted are kept as a patch when the session is resumed', async () => {
    const { cwd, id, directory, home, ask } = await kept('echo x > a.txt', { 'a.txt': 'a\n' }, [])
    expect((await ask('undo', id)).stdout).toContain('Reverted.')
    const resumed = await exec([[say('done')]], ['resume', id, '--view=copy', 'go on'], { cwd, home })
    const patch = join(directory, 'reverted-1/changes.patch')
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining(patch)])
    execFileSync('git', ['apply', patch], { cwd })
    expect(read(cwd, 'a.txt')).toBe('x\n')
  })

  test('are discarded together with their view', async () => {
    const { cwd, id, directory, ask } = await kept('echo x > a.txt; mkdir closed; chmod 0 closed', { 'a.txt': 'a\n' })
    expect(existsSync(join(directory, 'view'))).toBe(true)
    expect((await ask('discard', id)).stdout).toBe('The stored changes were removed. The tree is unchanged.\n')
    expect([existsSync(join(directory, 'view')), existsSync(join(directory, 'changes')), read(cwd, 'a.txt')]).toEqual([
      false,
      false,
      'a\n',
    ])
    expect((await ask('discard', id)).stdout).toContain('already been discarded')
    expect((await ask('apply', id)).stderr).toContain('were discarded')
  })

  test('of a killed run are found on request', async () => {
    const { cwd, id, directory, ask } = await kept('echo x > a.txt', { 'a.txt': 'a\n', '.gitignore': 'out\n' })
    const state = JSON.parse(read(directory, 'transaction.json')) as {
      readonly roots: readonly { readonly source: string }[]
    }
    // The run is killed after it has written these.
    writeFileSync(join(state.roots[0]?.source ?? '', 'later.txt'), 'later\n')
    writeFileSync(join(state.roots[0]?.source ?? '', 'out'), 'ignored\n')
    expect((await ask('changes', id)).stdout).toBe(
      `${id}  not landed\nM a.txt  +1 -1\nA later.txt  +1 -0\nignored by git: 1 file, 8 bytes\n`,
    )
    expect((await ask('apply', id)).code).toBe(0)
    expect([read(cwd, 'a.txt'), read(cwd, 'later.txt')]).toEqual(['x\n', 'later\n'])
  })

  test('of a killed run are searched in the same kind of sandbox as the run’s', async () => {
    const { id, directory, ask } = await kept('echo x > a.txt', { 'a.txt': 'a\n' })
    rmSync(join(directory, 'changes/record.json'))
    const noted = read(directory, 'decided-by.jsonl')
    writeFileSync(
      join(directory, 'decided-by.jsonl'),
      noted.replace('"backend":"bubblewrap"', '"backend":"docker","image":"none-such:1"'),
    )
    expect((await ask('changes', id)).stderr).toMatch(/docker/i)
    writeFileSync(join(directory, 'decided-by.jsonl'), noted)
    expect((await ask('changes', id)).stdout).toContain('M a.txt')
  })

  test('are kept when old sessions are removed, unless an option says otherwise', async () => {
    const { home, directory, ask } = await kept('echo x > a.txt; mkdir closed; chmod 0 closed', { 'a.txt': 'a\n' })
    const long = new Date(Date.now() - 9 * 86_400_000)
    utimesSync(join(directory, 'rollout.jsonl'), long, long)
    const first = await ask('sessions', 'prune', '--days', '5')
    expect(first.stdout).toContain(
      '0 sessions removed\n1 session kept, because its changes were neither landed nor discarded',
    )
    expect((await ask('sessions', 'prune', '--days', '5', '--unlanded')).stdout).toBe('1 session removed\n')
    expect(existsSync(directory)).toBe(false)
    expect(existsSync(home)).toBe(true)
  })

  test('are kept when old sessions are removed if it is not known whether they landed', async () => {
    const { directory, ask } = await kept('echo x > a.txt', { 'a.txt': 'a\n' })
    writeFileSync(join(directory, 'transaction.json'), 'cut')
    const long = new Date(Date.now() - 9 * 86_400_000)
    utimesSync(join(directory, 'rollout.jsonl'), long, long)
    expect((await ask('sessions', 'prune', '--days', '5')).stdout).toContain('0 sessions removed\n1 session kept')
    expect((await ask('sessions', 'prune', '--days', '5', '--unlanded')).stdout).toBe('1 session removed\n')
  })

  test('are empty if runs worked in the tree itself', async () => {
    const [cwd, home] = [repository({}), tempDir()]
    const { events } = await exec([[say('done')]], ['--json', '--in-place', 'x'], { cwd, home })
    const id = events[0]?.type === 'thread.started' ? events[0].thread_id : ''
    const asked = await agent(['changes', id], { cwd, home })
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining('worked in the tree itself, where only git can show'),
    ])
    expect((await agent(['apply', '--last'], { cwd, home })).code).toBe(2)
    expect((await agent(['undo'], { cwd, home })).stderr).toContain('name a run, or give --last')
  })

  test('with terminal control sequences are escaped in the list', async () => {
    const { ask } = await kept(`printf x > "$(printf 'a\\033[2Jb')"`, {})
    const listed = await ask('changes', '--last')
    expect(listed.stdout).not.toContain('\u001b')
  })
})
