import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import {
  asNobody,
  cmd,
  giveToNobody,
  onOverlay,
  outputOf,
  reportOf,
  whyNoOverlay,
  whyNotAsNobody,
} from './overlay-runs.ts'

const ways = ['copy', ...(whyNoOverlay() === undefined ? ['overlay'] : [])]
const by = 'git -c user.name=x -c user.email=x@x'
const prune = ['sessions', 'prune', '--days', '0']

/** A workspace, and functions that start runs and commands in it. `meanwhile` is called while the run waits for its second response. */
function place(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }) {
  const [cwd, home] = [repository(files), tempDir()]
  const ask = (...words: readonly string[]): Promise<Ended> => agent([...words], { cwd, home })
  const run = (how: string, steps: readonly Reply[], args: readonly string[] = []) =>
    onOverlay(cwd, steps, { home, how, args })
  const whileItRuns = async (how: string, steps: readonly Reply[], act: (pid: number) => void, args: string[] = []) => {
    let pid = 0
    const replies = (index: number): Reply => {
      if (index === 1) act(pid)
      return steps[index] ?? [say('done')]
    }
    const onStart = (child: { readonly pid?: number | undefined }): void => void (pid = child.pid ?? 0)
    return exec(replies, ['--json', `--view=${how}`, ...args, 'x'], { cwd, home, onStart })
  }
  const sessions = join(home, '.local/state/portcullis/sessions')
  const session = (): string => join(sessions, readdirSync(sessions)[0] ?? '')
  return { cwd, home, ask, run, whileItRuns, session, read: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

describe.skipIf(needsBubblewrap()).each(ways)('in a view (%s), what a run has made', (how) => {
  test('is not read by agent changes while the run works, and lands completely at its end', async () => {
    const { ask, whileItRuns, read, session } = place()
    let asked: Promise<Ended> | undefined
    const ended = await whileItRuns(
      how,
      [cmd('echo 1 > one'), cmd('echo 2 > two; echo more >> one; sleep 2'), cmd('kill')],
      () => (asked = ask('changes', '--last')),
    )
    expect(ended.code).toBe(0)
    expect(await asked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is running this session. Wait until it ends.'),
    })
    expect([read('one'), read('two'), existsSync(join(session(), 'view'))]).toEqual(['1\nmore\n', '2\n', false])
  })

  test('lands as it was when the run was killed, not as it was recorded before', async () => {
    const { ask, whileItRuns, run, read } = place()
    await run(how, [cmd('echo 1 > one')], ['--land', 'never'])
    expect((await ask('changes', '--last')).stdout).toContain('A one  +1 -0')
    const killed = await whileItRuns(
      how,
      [cmd('echo 2 > two; echo more >> one')],
      (pid) => process.kill(pid, 'SIGKILL'),
      ['resume', '--last'],
    )
    expect(killed.signal).toBe('SIGKILL')
    expect((await ask('apply', '--last')).stdout).toContain('2 files landed')
    expect([read('one'), read('two')]).toEqual(['1\nmore\n', '2\n'])
  })

  test('is not pruned while the run works', async () => {
    const { ask, whileItRuns, read } = place()
    let asked: Promise<Ended> | undefined
    const ended = await whileItRuns(
      how,
      [cmd('echo x > new'), cmd('sleep 2')],
      () => (asked = ask(...prune, '--unlanded')),
    )
    expect((await asked)?.stdout).toBe('0 sessions removed\n1 session kept, because a process is working on it\n')
    expect([ended.code, read('new')]).toEqual([0, 'x\n'])
  })

  test('is not pruned if it can’t land', async () => {
    const { ask, run } = place()
    await run(how, [cmd(`echo precious > "$(printf 'n\\377')"`)])
    expect((await ask(...prune)).stdout).toContain('0 sessions removed\n1 session kept')
    expect((await ask('changes', '--last')).stdout).toContain('left out: ')
  })

  test('is not pruned after it was reverted, not even if the session went on in a new view', async () => {
    const { ask, run, cwd, home, session, read } = place()
    await run(how, [cmd('echo precious > p')])
    await ask('undo', '--last')
    expect((await ask(...prune)).stdout).toContain('0 sessions removed\n1 session kept')
    expect((await ask('apply', '--last')).stdout).toContain('1 file landed')
    expect(read('p')).toBe('precious\n')
    await ask('undo', '--last')
    await exec([cmd('echo q > q'), [say('done')]], ['--json', 'resume', '--last', 'go on'], { cwd, home })
    expect([read('q'), (await ask(...prune)).stdout]).toEqual([
      'q\n',
      expect.stringContaining('0 sessions removed\n1 session kept'),
    ])
    expect(readFileSync(join(session(), 'reverted-1/changes.patch'), 'utf8')).toContain('+precious')
  })

  test('is pruned if it landed, even if files that git ignores stayed behind', async () => {
    const { ask, run, session } = place({ 'a.txt': 'a\n', '.gitignore': 'out\n' })
    await run(how, [cmd('echo x > new; echo o > out')], ['--land-ignored=no'])
    expect(existsSync(join(session(), 'view'))).toBe(true)
    expect((await ask(...prune)).stdout).toBe('1 session removed\n')
  })

  test('is kept if somebody has changed it since it was recorded', async () => {
    const { ask, run, session } = place({ 'a.txt': 'a\n', '.gitignore': 'out\n' })
    await run(how, [cmd('echo x > new; echo o > out')], ['--land-ignored=no'])
    const view = join(session(), how === 'copy' ? 'view/0' : 'view/upper-0')
    writeFileSync(join(view, 'new'), 'y\n')
    expect((await ask(...prune)).stdout).toContain('0 sessions removed\n1 session kept')
  })

  test('in a repository that the run created is kept, and can be fetched, if a commit holds what never lands', async () => {
    const [cwd, home] = [tempDir({ 'a.txt': 'a\n' }), tempDir()]
    const command = `git init -q -b main; echo e > .envrc; git add -A; ${by} commit -qm precious; echo b > b`
    const ended = await onOverlay(cwd, [cmd(command)], { home, how, args: ['--skip-git-repo-check'] })
    const [{ path, kept } = { path: '', kept: '' }] = reportOf(ended)?.repositories ?? []
    expect([ended.code, path]).toEqual([0, cwd])
    const other = repository({})
    execFileSync('git', ['fetch', '-q', kept, 'HEAD'], { cwd: other })
    expect(execFileSync('git', ['log', '--format=%s', 'FETCH_HEAD'], { cwd: other, encoding: 'utf8' })).toBe(
      'precious\n',
    )
    expect((await agent(['changes', '--last'], { cwd, home })).stdout).toContain(`commits in ${cwd}: git fetch ${kept}`)
    expect((await agent(prune, { cwd, home })).stdout).toContain('0 sessions removed')
  })

  const withoutPrivileges = testUnless(whyNotAsNobody())
  withoutPrivileges('in directories and files that nobody may read is found, and lands with its modes', async () => {
    const { cwd, home, ask } = place({ 'a.txt': 'a\n', '.gitignore': 'out\n' })
    giveToNobody(cwd, home)
    const command =
      'echo n > new; mkdir -p out/t d/e; echo o > out/t/o; echo e > d/e/e; echo f > f; chmod 000 out/t d/e f; chmod 100 d'
    const ended = await onOverlay(cwd, [cmd(command)], { home, how, startedBy: asNobody })
    expect([ended.code, reportOf(ended)]).toMatchObject([0, { outcome: 'landed', ignored: { files: 1, bytes: 2 } }])
    const mode = (path: string): number => statSync(join(cwd, path)).mode & 0o777
    expect(['new', 'd', 'd/e', 'f'].map((path) => mode(path).toString(8))).toEqual(['644', '100', '0', '0'])
    expect([readFileSync(join(cwd, 'd/e/e'), 'utf8'), readFileSync(join(cwd, 'f'), 'utf8')]).toEqual(['e\n', 'f\n'])
    expect((await ask('changes', '--last')).stdout).toContain('A d/e/e  +1 -0')
  })
})

testUnless(whyNoBubblewrap() ?? whyNoOverlay() ?? whyNotAsNobody())(
  'a directory of the tree that the user can’t read, but that a run has made readable on an overlay, is left out with the reason',
  async () => {
    const { cwd, home } = place({ 'a.txt': 'a\n', 'd/f': 'f\n' })
    giveToNobody(cwd, home)
    chmodSync(join(cwd, 'd'), 0o000)
    const command = 'echo n > new; chmod 755 d; cat d/f; echo g > d/g'
    const ended = await onOverlay(cwd, [cmd(command)], { home, startedBy: asNobody })
    const why = expect.stringContaining("can't be read")
    expect([outputOf(ended), reportOf(ended)?.left_out]).toEqual(['f\n', [{ path: join(cwd, 'd'), why }]])
  },
)
