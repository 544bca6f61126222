/** What a person finds after a day's usual tasks, each in a run without any option about its view. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { cmd, outputOf, reportOf } from './overlay-runs.ts'

const identity = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'protocol.file.allow=always']

function git(cwd: string, ...words: readonly string[]): string {
  return execFileSync('git', [...identity, ...words], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

/** A repository with one commit on the branch main. */
function project(files: Readonly<Record<string, string>>): string {
  const cwd = repository(files)
  git(cwd, 'checkout', '-qb', 'main')
  git(cwd, 'config', 'user.name', 'x')
  git(cwd, 'config', 'user.email', 'x@x')
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  return cwd
}

async function run(
  cwd: string,
  steps: readonly (string | Reply)[],
  options: { readonly home?: string; readonly args?: readonly string[] } = {},
) {
  const calls = steps.map((step) => (typeof step === 'string' ? cmd(step) : step))
  const replies = (index: number): Reply => calls[index] ?? [say('done')]
  const ended = await exec(replies, ['--json', ...(options.args ?? []), 'x'], {
    cwd,
    ...(options.home === undefined ? {} : { home: options.home }),
  })
  expect([ended.code, reportOf(ended)?.outcome], ended.stderr).toEqual([0, 'landed'])
  return ended
}

const text = (...parts: readonly string[]): string => readFileSync(join(...parts), 'utf8')
const patch = (...lines: readonly string[]): Reply => [
  freeform('apply_patch', ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')),
]

describe.skipIf(needsBubblewrap())('after a run', () => {
  test('an installed package is installed, and the next step uses it', async () => {
    const cwd = project({ '.gitignore': 'node_modules\n', 'test.js': 'console.log(require("left"))\n' })
    const ended = await run(cwd, [
      'mkdir -p node_modules/left/lib node_modules/.bin; echo "module.exports = 42" > node_modules/left/index.js; ln -s ../left/index.js node_modules/.bin/left; chmod 755 node_modules/left/index.js',
      'node test.js',
    ])
    expect(outputOf(ended)).toContain('42')
    expect(execFileSync(process.execPath, ['test.js'], { cwd, encoding: 'utf8' })).toBe('42\n')
    expect(readlinkSync(join(cwd, 'node_modules/.bin/left'))).toBe('../left/index.js')
    expect(statSync(join(cwd, 'node_modules/left/index.js')).mode & 0o777).toBe(0o755)
    expect(git(cwd, 'status', '--short')).toBe('')
  })

  test('a commit is on the branch, and the tree is clean', async () => {
    const cwd = project({ 'a.txt': 'a\n' })
    await run(cwd, [patch('*** Update File: a.txt', '@@', '-a', '+b'), 'git commit -qam second'])
    expect([git(cwd, 'log', '--format=%s'), git(cwd, 'status', '--short')]).toEqual(['second\nfirst', ''])
    expect(git(cwd, 'show', 'HEAD:a.txt')).toBe('b')
  })

  test('a repository that a run has made and then moved is where it moved it', async () => {
    const cwd = project({ 'a.txt': 'a\n' })
    await run(cwd, [
      `git init -q made && cd made && echo x > x && git add x && git -c user.name=x -c user.email=x@x commit -qm made`,
      'mv made moved',
      'git -C moved log --format=%s > log.txt',
    ])
    expect(text(cwd, 'log.txt')).toBe('made\n')
    expect(git(join(cwd, 'moved'), 'log', '--format=%s')).toBe('made')
  })

  test('a new branch is checked out, and can be pushed', async () => {
    const cwd = project({ 'a.txt': 'a\n' })
    const remote = tempDir()
    git(remote, 'init', '-q', '--bare')
    git(cwd, 'remote', 'add', 'origin', remote)
    await run(cwd, ['git switch -qc fix && echo b > a.txt && git commit -qam second'])
    expect([git(cwd, 'branch', '--show-current'), git(cwd, 'status', '--short')]).toEqual(['fix', ''])
    git(cwd, 'push', '-q', 'origin', 'fix')
    expect(git(remote, 'log', '-1', '--format=%s', 'fix')).toBe('second')
  })

  test('what was stashed and taken out again is in the tree', async () => {
    const cwd = project({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    await run(cwd, ['echo more >> a.txt; git stash -q; echo x > b.txt; git commit -qam second; git stash pop -q'])
    expect([git(cwd, 'log', '-1', '--format=%s'), git(cwd, 'status', '--short')]).toEqual(['second', 'M a.txt'])
    expect(git(cwd, 'stash', 'list')).toBe('')
  })

  test('after a rebase the files are there, and one printed command moves the branch', async () => {
    const cwd = project({ 'a.txt': 'a\n' })
    git(cwd, 'switch', '-qc', 'topic')
    writeFileSync(join(cwd, 'topic.txt'), 't\n')
    git(cwd, 'add', '.')
    git(cwd, 'commit', '-qm', 'topic')
    git(cwd, 'switch', '-q', 'main')
    writeFileSync(join(cwd, 'a.txt'), 'b\n')
    git(cwd, 'commit', '-qam', 'second')
    git(cwd, 'switch', '-q', 'topic')
    const ended = await run(cwd, ['git rebase -q main'])
    expect([text(cwd, 'a.txt'), text(cwd, 'topic.txt')]).toEqual(['b\n', 't\n'])
    expect(git(cwd, 'log', '-2', '--format=%s', 'topic')).toBe('topic\nfirst')
    const command = reportOf(ended)?.refs_not_landed?.find(({ ref }) => ref === 'refs/heads/topic')?.command ?? ''
    expect(ended.stderr).toContain(command)
    execFileSync('sh', ['-c', command], { cwd })
    expect([git(cwd, 'log', '-3', '--format=%s'), git(cwd, 'status', '--short')]).toEqual(['topic\nsecond\nfirst', ''])
  })

  test('a submodule is at the commit to which the run moved it', async () => {
    const library = project({ 'lib.txt': '1\n' })
    const cwd = project({ 'a.txt': 'a\n' })
    git(cwd, 'submodule', '--quiet', 'add', library, 'lib')
    git(cwd, 'commit', '-qm', 'with lib')
    writeFileSync(join(cwd, 'lib/lib.txt'), '2\n')
    git(join(cwd, 'lib'), 'commit', '-qam', 'lib second')
    const next = git(join(cwd, 'lib'), 'rev-parse', 'HEAD')
    git(join(cwd, 'lib'), 'checkout', '-q', 'HEAD~1')
    await run(cwd, [`git -C lib checkout -q ${next} && git add lib && git commit -qm bump`])
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('bump')
    expect(git(cwd, 'ls-tree', 'HEAD', 'lib')).toContain(next)
    expect(text(cwd, 'lib/lib.txt')).toBe('2\n')
  })

  test('build outputs are newer than their sources, and nothing is built again', async () => {
    const cwd = project({ '.gitignore': 'out\n', Makefile: 'out: in\n\tcp in out\n', in: '1\n' })
    await run(cwd, ['make -s'])
    expect(execFileSync('make', ['-q'], { cwd, encoding: 'utf8' })).toBe('')
  })

  test.each([false, undefined])(
    'what a formatter does as a hook is the change of the run (sandbox: %s)',
    async (sandbox) => {
      const cwd = project({
        'a.txt': 'a\n',
        'format.sh': 'cat > /dev/null; sed -i "s/^b$/B/" a.txt; git diff --stat >> seen.txt; pwd >> seen.txt\n',
      })
      const hook = { type: 'command', command: 'sh format.sh', ...(sandbox === undefined ? {} : { sandbox }) }
      const hooks = { hooks: { PostToolUse: [{ matcher: 'apply_patch', hooks: [hook] }] } }
      const home = tempDir({ '.config/portcullis/hooks.json': JSON.stringify(hooks) })
      await run(cwd, [patch('*** Update File: a.txt', '@@', '-a', '+b'), 'cat a.txt', 'echo c >> a.txt'], { home })
      expect(text(cwd, 'a.txt')).toBe('B\nc\n')
      expect(text(cwd, 'seen.txt')).toBe(` a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n${cwd}\n`)
    },
  )

  test('a server outside the sandbox has written into the run’s view', async () => {
    const server = `
      import { createInterface } from 'node:readline'
      import { writeFileSync, readFileSync } from 'node:fs'
      const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
      createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        if (id === undefined) return
        if (method === 'initialize') return send({ id, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'go', version: '1' }, capabilities: { tools: {} } } })
        if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'go', inputSchema: { type: 'object' } }] } })
        writeFileSync('served.txt', readFileSync('a.txt', 'utf8') + 'served\\n')
        send({ id, result: { content: [{ type: 'text', text: 'ok' }] } })
      })`
    const cwd = project({ 'a.txt': 'a\n' })
    const config = [
      '[permissions]',
      'allow = ["mcp__go__*"]',
      '[mcp_servers.go]',
      `command = ${JSON.stringify(process.execPath)}`,
      `args = ["--input-type=module", "-e", ${JSON.stringify(server)}]`,
      'sandbox = false',
    ]
    const home = tempDir({ '.config/portcullis/config.toml': config.join('\n') })
    await run(cwd, ['echo b > a.txt', [call('mcp__go__go', {})], 'cat served.txt'], { home })
    expect(text(cwd, 'served.txt')).toBe('b\nserved\n')
  })

  test('a dev server was reachable for the commands after it', async () => {
    const cwd = project({
      'server.js': 'require("http").createServer((_, r) => r.end("hello")).listen("/tmp/server.sock")\n',
    })
    const ended = await run(
      cwd,
      [
        [call('exec_command', { cmd: 'node server.js', yield_time_ms: 1500 })],
        'curl -s --unix-socket /tmp/server.sock http://x/ > got.txt',
      ],
      { args: ['-c', 'allow_unix_sockets=true'] },
    )
    expect(text(cwd, 'got.txt'), ended.stderr).toBe('hello')
  })

  test('a dev server on a port was reachable in the command that started it', async () => {
    const cwd = project({
      'server.js': 'require("http").createServer((_, r) => r.end("hello")).listen(4567, "127.0.0.1")\n',
    })
    const ended = await run(cwd, [
      'node server.js & for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; curl -s http://127.0.0.1:4567/ > got.txt && break; done; kill %1; true',
    ])
    expect(text(cwd, 'got.txt'), ended.stderr).toBe('hello')
  })

  test('in a sub-folder of a monorepo, only that folder has changed', async () => {
    const root = project({ 'packages/one/a.txt': 'a\n', 'packages/two/b.txt': 'b\n' })
    const cwd = join(root, 'packages/one')
    await run(cwd, [
      'echo x > a.txt; echo y > ../two/b.txt; git status --porcelain > seen.txt; git commit -qam second; true',
    ])
    expect([text(cwd, 'a.txt'), text(cwd, 'seen.txt')]).toEqual([
      'x\n',
      ' M packages/one/a.txt\n?? packages/one/seen.txt\n',
    ])
    expect(text(root, 'packages/two/b.txt')).toBe('b\n')
  })

  test('in a shallow clone, commits land and the boundary stays', async () => {
    const origin = project({ 'a.txt': 'a\n' })
    writeFileSync(join(origin, 'a.txt'), 'b\n')
    git(origin, 'commit', '-qam', 'second')
    const cwd = join(tempDir(), 'clone')
    git('/', 'clone', '-q', '--depth', '1', `file://${origin}`, cwd)
    const shallow = text(cwd, '.git/shallow')
    await run(cwd, ['echo c > a.txt; git -c user.name=x -c user.email=x@x commit -qam third'])
    expect([git(cwd, 'log', '--format=%s'), text(cwd, '.git/shallow')]).toEqual(['third\nsecond', shallow])
    expect(git(cwd, 'fsck', '--strict')).toBe('')
  })

  test('in a linked work tree, commits are on its branch', async () => {
    const main = project({ 'a.txt': 'a\n' })
    const cwd = join(tempDir(), 'tree')
    git(main, 'worktree', 'add', '-q', '-b', 'side', cwd)
    await run(cwd, ['echo b > a.txt; git commit -qam second'])
    expect([git(main, 'log', '-1', '--format=%s', 'side'), git(main, 'log', '-1', '--format=%s', 'main')]).toEqual([
      'second',
      'first',
    ])
    expect([git(cwd, 'status', '--short'), git(main, 'status', '--short')]).toEqual(['', ''])
  })

  test('in a submodule as the workspace, commits are in it', async () => {
    const library = project({ 'lib.txt': '1\n' })
    const parent = project({ 'a.txt': 'a\n' })
    git(parent, 'submodule', '--quiet', 'add', library, 'lib')
    git(parent, 'commit', '-qm', 'with lib')
    const cwd = join(parent, 'lib')
    await run(cwd, ['echo 2 > lib.txt; git -c user.name=x -c user.email=x@x commit -qam second'])
    expect([git(cwd, 'log', '-1', '--format=%s'), git(cwd, 'status', '--short')]).toEqual(['second', ''])
  })

  test('pointers of LFS, renames of case, modes and links are as the run left them', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'
    const cwd = project({
      '.gitattributes': '*.bin -text\n',
      'big.bin': pointer,
      'Name.txt': 'n\n',
      'tool.sh': 'echo\n',
    })
    await run(cwd, [
      'git mv Name.txt name.txt; chmod 755 tool.sh; ln -s tool.sh link; git add -A; git commit -qm second',
    ])
    expect(text(cwd, 'big.bin')).toBe(pointer)
    expect([existsSync(join(cwd, 'Name.txt')), text(cwd, 'name.txt')]).toEqual([false, 'n\n'])
    expect([statSync(join(cwd, 'tool.sh')).mode & 0o777, readlinkSync(join(cwd, 'link'))]).toEqual([0o755, 'tool.sh'])
    expect(git(cwd, 'status', '--short')).toBe('')
  })

  test('new files in a folder of a group belong to the group', async () => {
    const cwd = project({ 'shared/a.txt': 'a\n' })
    if (process.geteuid?.() === 0) execFileSync('chgrp', ['-R', '12345', join(cwd, 'shared')])
    chmodSync(join(cwd, 'shared'), 0o2775)
    await run(cwd, ['echo b > shared/a.txt; echo n > shared/new.txt; mkdir shared/deep; echo d > shared/deep/d.txt'])
    const { gid } = statSync(join(cwd, 'shared'))
    for (const name of ['a.txt', 'new.txt', 'deep', 'deep/d.txt'])
      expect(lstatSync(join(cwd, 'shared', name)).gid, name).toBe(gid)
    expect(statSync(join(cwd, 'shared')).mode & 0o7777).toBe(0o2775)
    expect(statSync(join(cwd, 'shared/deep')).mode & 0o2000).toBe(0o2000)
  })

  test('what was staged before is still staged, and so is what the run staged', async () => {
    const cwd = project({ 'a.txt': 'a\n', 'lock.json': '1\n' })
    writeFileSync(join(cwd, 'a.txt'), 'mine\n')
    git(cwd, 'add', 'a.txt')
    await run(cwd, ['echo 2 > lock.json; git add lock.json'])
    expect(text(cwd, 'lock.json')).toBe('2\n')
    expect(git(cwd, 'status', '--short')).toBe('M  a.txt\nM  lock.json')
  })

  test('a second turn sees what the user edited after the first', async () => {
    const cwd = project({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const home = tempDir()
    await run(cwd, ['echo 1 > a.txt'], { home })
    writeFileSync(join(cwd, 'b.txt'), 'edited\n')
    const ended = await exec(
      [cmd('cat b.txt a.txt; echo 2 > a.txt'), [say('done')]],
      ['resume', '--last', '--json', 'y'],
      { cwd, home },
    )
    expect([ended.code, outputOf(ended)], ended.stderr).toEqual([0, 'edited\n1\n'])
    expect([text(cwd, 'a.txt'), text(cwd, 'b.txt')]).toEqual(['2\n', 'edited\n'])
  })

  test('in a home that is a repository and holds the program’s own state, only the run’s changes land', async () => {
    const cwd = project({ '.profile': 'a\n', 'notes/a.txt': 'a\n' })
    for (const text of ['b', 'c']) {
      await run(join(cwd, 'notes'), [`echo ${text} > a.txt; ls -R .. > /dev/null`], { home: cwd })
      expect(git(cwd, 'diff', '--stat', '--', 'notes', '.profile')).toContain('1 file changed')
    }
    const views = execFileSync('find', ['.local/state/portcullis', '-path', '*/view/*portcullis*'], {
      cwd,
      encoding: 'utf8',
    })
    expect(views).toBe('')
  })

  test('a large file in the tree is what it was', async () => {
    const cwd = project({ '.gitignore': 'data\n', 'a.txt': 'a\n' })
    mkdirSync(join(cwd, 'data'))
    execFileSync('truncate', ['-s', '1G', join(cwd, 'data/big')])
    const { ino, mtimeNs } = statSync(join(cwd, 'data/big'), { bigint: true })
    await run(cwd, ['wc -c data/big > size.txt'])
    const after = statSync(join(cwd, 'data/big'), { bigint: true })
    expect([text(cwd, 'size.txt'), after.ino, after.mtimeNs]).toEqual(['1073741824 data/big\n', ino, mtimeNs])
  })
})
