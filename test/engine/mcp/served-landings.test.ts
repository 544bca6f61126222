import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { client, textOf } from './served-client.ts'

/** A repository with one commit, a server in it, and what its caller does. */
async function serving(files: Readonly<Record<string, string>>) {
  const cwd = tempDir(files)
  const git = (...words: readonly string[]): string => execFileSync('git', words, { cwd, encoding: 'utf8' }).trim()
  git('init', '--quiet', '-b', 'main')
  git('config', 'user.name', 'u')
  git('config', 'user.email', 'u@example.com')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')
  const home = tempDir()
  const other = await client([], cwd, { HOME: home, XDG_STATE_HOME: join(home, 'state') })
  const shell = async (command: string): Promise<string> =>
    textOf(await other.callTool({ name: 'sandboxed_shell', arguments: { command } }))
  const read = (name: string): string => readFileSync(join(cwd, name), 'utf8')
  return { cwd, home, git, other, shell, read }
}

describe.skipIf(needsBubblewrap())('the calls that agent mcp-server answers', () => {
  test('have landed when the caller gets the answer, and see what the caller has done since the last one', async () => {
    const { cwd, shell, read } = await serving({ 'a.txt': 'one\n', 'gone.txt': 'x\n' })
    expect(await shell('echo two >> a.txt; mkdir -p d; echo new > d/n.txt')).not.toContain('land')
    expect([read('a.txt'), read('d/n.txt')]).toEqual(['one\ntwo\n', 'new\n'])
    writeFileSync(join(cwd, 'a.txt'), 'mine\n')
    rmSync(join(cwd, 'gone.txt'))
    rmSync(join(cwd, 'd'), { recursive: true })
    mkdirSync(join(cwd, 'e'))
    writeFileSync(join(cwd, 'e/f.txt'), 'also mine\n')
    expect(await shell('cat a.txt e/f.txt; ls')).toContain('mine\nalso mine\na.txt\ne')
    await shell('echo three >> a.txt')
    expect(read('a.txt')).toBe('mine\nthree\n')
    expect(['gone.txt', 'd'].map((name) => existsSync(join(cwd, name)))).toEqual([false, false])
  })

  test('keep what git remembers: what is staged, a stash, and a merge that has to be concluded', async () => {
    const { cwd, git, shell, read } = await serving({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
    await shell('echo two > a.txt; git add a.txt')
    await shell('git commit -qm "by the run"')
    expect([git('log', '-1', '--format=%s'), git('status', '--porcelain')]).toEqual(['by the run', ''])
    await shell('echo stashed > b.txt; git stash -q')
    expect(read('b.txt')).toBe('b\n')
    await shell('git stash pop -q')
    expect(read('b.txt')).toBe('stashed\n')
    await shell('git checkout -q b.txt; git switch -qc side; echo side > a.txt; git commit -qam side')
    expect(git('branch', '--show-current')).toBe('side')
    await shell('git switch -q main; echo main > a.txt; git commit -qam main; git merge side')
    await shell('echo merged > a.txt; git commit -qam merged')
    expect(await shell('git log --merges --format=%s')).toContain('merged')
    expect(read('a.txt')).toBe('merged\n')
    expect(existsSync(join(cwd, '.git/MERGE_HEAD'))).toBe(false)
  })

  test('see a commit that the caller has made, and add another to it', async () => {
    const { cwd, git, shell } = await serving({ 'a.txt': 'one\n' })
    await shell('git status; echo run > r.txt')
    writeFileSync(join(cwd, 'a.txt'), 'two\n')
    git('add', '-A')
    git('commit', '-qm', 'by the caller')
    expect(await shell('git log --format=%s; git status --porcelain')).toMatch(/by the caller\nfirst$/)
    await shell('echo three > a.txt; git commit -qam "by the run"')
    expect(git('log', '--format=%s')).toBe('by the run\nby the caller\nfirst')
  })

  test('leave nothing that controls other programs, and say so once', async () => {
    const { cwd, git, shell } = await serving({ 'a.txt': 'one\n' })
    const before = readFileSync(join(cwd, '.git/config'), 'utf8')
    const said = await shell(
      'mkdir -p .claude x; echo "{}" > .claude/settings.json; git init -q x; echo "[core]\nfsmonitor = ./evil" >> x/.git/config; ' +
        'git config core.fsmonitor ./evil; echo ./evil > .git/hooks/pre-commit; git tag v1; echo ok > fine.txt',
    )
    expect(said).toContain('.claude/settings.json')
    expect(said).toContain('v1')
    expect(existsSync(join(cwd, '.claude'))).toBe(false)
    expect(readFileSync(join(cwd, 'x/.git/config'), 'utf8')).not.toContain('evil')
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
    expect([readFileSync(join(cwd, '.git/config'), 'utf8'), git('tag')]).toEqual([before, ''])
    expect(readFileSync(join(cwd, 'fine.txt'), 'utf8')).toBe('ok\n')
    await shell('echo more > more.txt')
    expect(await shell('git tag; cat .claude/settings.json')).toMatch(/v1\n\{\}$/)
  })

  test('never lose much without an answer: the tree stays, and the answer says how to land it', async () => {
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}.txt`, `${index}\n`]))
    const { cwd, git, shell } = await serving(files)
    const said = await shell('rm -rf ./*')
    expect(said).toContain('Nothing was landed')
    expect(said).toMatch(/agent apply/)
    expect([git('status', '--porcelain'), existsSync(join(cwd, 'f1.txt'))]).toEqual(['', true])
    await shell('git checkout -q . ; echo x > f1.txt')
    expect(git('status', '--porcelain')).toBe('M f1.txt')
  })

  test('merge with what the caller writes at the same time, or say what conflicts', async () => {
    const { cwd, shell, read } = await serving({ 'a.txt': '1\n2\n3\n4\n5\n6\n7\n', 'b.txt': 'b\n' })
    const merging = shell('sed -i s/1/one/ a.txt; sleep 2')
    await setTimeout(700)
    writeFileSync(join(cwd, 'a.txt'), '1\n2\n3\n4\n5\n6\nseven\n')
    expect(await merging).toContain('merged')
    expect(read('a.txt')).toBe('one\n2\n3\n4\n5\n6\nseven\n')
    const clashing = shell('echo run > b.txt; sleep 2')
    await setTimeout(700)
    writeFileSync(join(cwd, 'b.txt'), 'caller\n')
    expect(await clashing).toContain('b.txt: someone else changed the same lines')
    expect(read('b.txt')).toBe('caller\n')
    // What did not land is still there for the next call, which can settle it.
    expect(await shell('cat b.txt')).toContain('run')
  })

  test('are all undone together', async () => {
    const { cwd, home, git, other, shell } = await serving({ 'a.txt': 'one\n' })
    await shell('echo two > a.txt; git commit -qam second')
    await shell('echo new > n.txt')
    expect(git('log', '--format=%s')).toBe('second\nfirst')
    await other.close()
    const undone = await agent(['undo', '--last'], { cwd, home, env: { XDG_STATE_HOME: join(home, 'state') } })
    expect(undone.code).toBe(0)
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['first', ''])
  })
})
