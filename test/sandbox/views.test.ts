import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSandbox, parsePolicy, SandboxError, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { image } from './docker-image.ts'
import { closeLater, codeOf, run, temporaryDirectory } from './helpers.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { describeInBoth } from './both-backends.ts'

/** Creates a directory and, elsewhere, a private view of it. No command may reach the view directly. */
async function viewed(files: Readonly<Record<string, string>>) {
  const [path, kept] = [await temporaryDirectory(), await temporaryDirectory()]
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  const source = join(kept, 'view')
  cpSync(path, source, { recursive: true })
  return { path, source, kept, policy: { views: [{ path, source }], deniedReads: [kept] } }
}

describeInBoth('a private view in %s', ({ backend, test: it, readableRoots }) => {
  const opened = async (policy: SandboxPolicyInput): Promise<Sandbox> =>
    closeLater(await openSandbox(parsePolicy({ readableRoots, ...policy }), { backend, image }))

  it('is what commands see and write at the path of the workspace, which stays unchanged', async () => {
    const { path, source, policy } = await viewed({ 'a.txt': 'real' })
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    writeFileSync(join(source, 'a.txt'), 'view')
    const seen = await run(sandbox, 'pwd; cat a.txt; echo; echo new > b.txt; rm a.txt; ls')
    expect(seen.stdout).toBe(`${path}\nview\nb.txt\n`)
    expect(readdirSync(path)).toEqual(['a.txt'])
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('real')
    expect(readdirSync(source)).toEqual(['b.txt'])
  })

  it('is visible to read-only commands, which can’t change it', async () => {
    const { path, source, policy } = await viewed({ 'a.txt': 'real' })
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    writeFileSync(join(source, 'a.txt'), 'view')
    const seen = await run(sandbox, 'cat a.txt; echo x > b.txt', { readOnly: true })
    expect(seen.stdout).toBe('view')
    expect(codeOf(seen)).not.toBe(0)
    expect(readdirSync(source)).toEqual(['a.txt'])
  })

  it('hides its storage directory, and the original files at its path', async () => {
    const { path, source, kept, policy } = await viewed({ 'a.txt': 'real' })
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    const tries = [
      `cat ${source}/a.txt`,
      `ls -A ${kept} | grep .`,
      `echo x > ${source}/x`,
      `cat /proc/1/root${source}/a.txt`,
      `umount ${path}`,
      `umount -l ${path}`,
      `mount --bind / ${path}`,
    ]
    for (const each of tries) expect([each, codeOf(await run(sandbox, each)) === 0]).toEqual([each, false])
    await run(sandbox, `echo view > a.txt; for root in /proc/[0-9]*/root; do cat $root${path}/a.txt; done > all`)
    expect(readFileSync(join(source, 'all'), 'utf8')).not.toContain('real')
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('real')
  })

  it('has the protected places of the workspace', async () => {
    const { path, source, policy } = await viewed({})
    mkdirSync(join(source, '.vscode'))
    writeFileSync(join(source, '.vscode/settings.json'), '{}')
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    const tried = await run(sandbox, 'echo x > .vscode/settings.json')
    expect(codeOf(tried)).not.toBe(0)
    expect(readFileSync(join(source, '.vscode/settings.json'), 'utf8')).toBe('{}')
  })

  it('reports refusals with the path that commands know', async () => {
    const { path, kept, policy } = await viewed({ 'a.txt': '' })
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    const { result } = await run(
      sandbox,
      'git init -q made 2>/dev/null; echo "[core] fsmonitor = evil" >> made/.git/config',
    )
    expect(JSON.stringify(result.denials)).not.toContain(kept)
    expect(() => sandbox.spawn({ argv: ['true'], cwd: join(path, 'gone') })).toThrow(join(path, 'gone'))
  })

  it('has its own git: commits don’t reach the real repository, and its objects needn’t be copied', async () => {
    const path = await temporaryDirectory()
    const git = (...words: string[]): string => execFileSync('git', ['-C', path, ...words], { encoding: 'utf8' })
    git('init', '-q')
    writeFileSync(join(path, 'a.txt'), 'one\n')
    git('add', '.')
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'first')
    const kept = await temporaryDirectory()
    const source = join(kept, 'view')
    cpSync(path, source, { recursive: true })
    rmSync(join(source, '.git/objects'), { recursive: true })
    mkdirSync(join(source, '.git/objects/info'), { recursive: true })
    mkdirSync(join(source, '.git/objects/pack'))
    writeFileSync(join(source, '.git/objects/info/alternates'), `${path}/.git/objects\n`)
    const before = git('rev-parse', 'HEAD')
    const policy = { views: [{ path, source }], deniedReads: [kept] }
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    const first = await run(
      sandbox,
      'git status --porcelain && git log --format=%s && echo two > a.txt && git -c user.name=x -c user.email=x@x commit -qam second',
    )
    expect([first.stdout, first.stderr, codeOf(first)]).toEqual(['first\n', '', 0])
    const second = await run(sandbox, 'git log --format=%s; git status --porcelain; git cat-file -p HEAD~1:a.txt')
    expect([second.stdout, second.stderr]).toEqual(['second\nfirst\none\n', ''])
    expect(git('rev-parse', 'HEAD')).toBe(before)
    expect(git('status', '--porcelain')).toBe('')
    const inView = execFileSync('git', ['-C', source, 'log', '--format=%s'], { encoding: 'utf8' })
    expect(inView).toBe('second\nfirst\n')
  })

  it('may contain more than the directory that commands write to', async () => {
    const { path, source, policy } = await viewed({})
    for (const at of [path, source]) {
      mkdirSync(join(at, 'sub'))
      writeFileSync(join(at, 'beside.txt'), at)
    }
    const sandbox = await opened({ mode: 'workspace-write', workspace: join(path, 'sub'), ...policy })
    const seen = await run(sandbox, 'pwd; cat ../beside.txt; echo; echo x > in.txt; echo x > ../out.txt')
    expect(seen.stdout).toBe(`${path}/sub\n${source}\n`)
    expect(existsSync(join(source, 'sub/in.txt'))).toBe(true)
    expect(existsSync(join(source, 'out.txt'))).toBe(false)
  })

  it('finds the programs of the view', async () => {
    const { path, source, policy } = await viewed({})
    writeFileSync(join(source, 'tool'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
    symlinkSync('tool', join(source, 'link'))
    const sandbox = await opened({ mode: 'workspace-write', workspace: path, ...policy })
    const { stdout } = await run(sandbox, '', { argv: ['./link'] })
    expect(stdout).toBe('mine\n')
  })
})

test.skipIf(needsBubblewrap())('a private view is shown to commands that nothing confines', async () => {
  const { path, source, policy } = await viewed({ 'a.txt': 'real' })
  const outside = await temporaryDirectory()
  const sandbox = closeLater(
    await openSandbox(parsePolicy({ mode: 'danger-full-access', workspace: path, views: policy.views })),
  )
  mkdirSync(join(source, 'made'))
  const seen = await run(sandbox, `pwd; echo view > ../a.txt; echo x > ${outside}/x`, { cwd: join(path, 'made') })
  expect(seen.stdout).toBe(`${path}/made\n`)
  expect([join(source, 'a.txt'), join(path, 'a.txt')].map((file) => readFileSync(file, 'utf8'))).toEqual([
    'view\n',
    'real',
  ])
  expect(readdirSync(outside)).toEqual(['x'])
})

test('a private view is refused where nothing is mounted', async () => {
  const { path, policy } = await viewed({})
  const open = openSandbox(parsePolicy({ mode: 'danger-full-access', workspace: path, ...policy }), {
    backend: 'external',
  })
  await expect(open).rejects.toThrow(SandboxError)
  await expect(open).rejects.toThrow("can't give them a private view")
})

/** Creates a directory, and what is laid over it. */
async function layered(files: Readonly<Record<string, string>>) {
  const [path, kept] = [await temporaryDirectory(), await temporaryDirectory()]
  mkdirSync(join(path, 'sub'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  const source = join(kept, 'upper')
  for (const made of ['work', 'upper', 'upper/sub']) mkdirSync(join(kept, made))
  const views = [{ path, source, over: path }]
  return { path, source, kept, policy: { mode: 'workspace-write', views, deniedReads: [kept] } } as const
}

test.skipIf(needsBubblewrap())('layers over a directory show both, and only the upper one is written to', async () => {
  const { path, source, policy } = await layered({ 'a.txt': 'a', 'b.txt': 'b', 'sub/c.txt': 'c' })
  writeFileSync(join(source, 'b.txt'), 'upper')
  const sandbox = closeLater(await openSandbox(parsePolicy({ workspace: path, ...policy }), { backend: 'bubblewrap' }))
  const seen = await run(
    sandbox,
    'cat a.txt b.txt sub/c.txt; echo x > a.txt; rm sub/c.txt; ls sub; echo new > sub/d; umount .',
  )
  expect(seen.stdout).toBe('aupperc')
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a')
  expect(readdirSync(join(path, 'sub'))).toEqual(['c.txt'])
  expect((await run(sandbox, 'cat a.txt; ls sub')).stdout).toBe('x\nd\n')
  const reading = await run(sandbox, 'cat a.txt; echo y > a.txt', { readOnly: true })
  expect([reading.stdout, codeOf(reading) === 0]).toEqual(['x\n', false])
})

test.skipIf(needsBubblewrap())(
  'only the workspace is writable in layers over a directory that contains it',
  async () => {
    const { path, policy } = await layered({ 'a.txt': 'a', 'sub/c.txt': 'c' })
    const workspace = join(path, 'sub')
    const sandbox = closeLater(await openSandbox(parsePolicy({ workspace, ...policy }), { backend: 'bubblewrap' }))
    const seen = await run(
      sandbox,
      'pwd; cat ../a.txt c.txt; echo x > c.txt; cat c.txt; echo x > ../a.txt || mkdir ../b || mv ../a.txt .',
    )
    expect([seen.stdout, codeOf(seen) === 0]).toEqual([`${workspace}\nacx\n`, false])
    expect(readFileSync(join(path, 'sub/c.txt'), 'utf8')).toBe('c')
  },
)

test.skipIf(needsBubblewrap())('a command doesn’t start where the layers of its view can’t be mounted', async () => {
  const { path, kept, policy } = await layered({ 'a.txt': 'a' })
  const sandbox = closeLater(await openSandbox(parsePolicy({ workspace: path, ...policy }), { backend: 'bubblewrap' }))
  rmSync(join(kept, 'work'), { recursive: true })
  await expect(run(sandbox, 'true')).rejects.toMatchObject({ code: 'setup-failed' })
  await expect(
    openSandbox(parsePolicy({ workspace: path, ...policy }), { backend: 'docker', image }),
  ).rejects.toMatchObject({
    code: 'unavailable',
  })
})
