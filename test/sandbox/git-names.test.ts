import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { asView, ownStateDirectory, repository } from './git-repositories.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

ownStateDirectory()

/** Runs a bash script on the host, and returns its output decoded as latin1: each byte becomes one character. */
const onHost = (cwd: string, script: string): string =>
  execFileSync('bash', ['-ec', `git() { command git -c protocol.file.allow=always "$@"; }; ${script}`], {
    cwd,
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** All refs with their commits, the checked-out branch, and all reflogs. */
const stateOf = (cwd: string): string =>
  onHost(
    cwd,
    'git for-each-ref; cat .git/HEAD; cd .git; find logs -type f | LC_ALL=C sort | while read -r f; do echo "$f"; cat "$f"; done',
  )

/** Names as bash writes them: with characters of two to four bytes, with a line separator and a final no-break space, and with bytes that aren't UTF-8. */
const names = ["'größe-枝-😀'", String.raw`$'a\xe2\x80\xa8b\xc2\xa0'`, String.raw`$'gr\xf6\xdfe'`]

describeInBoth('git in %s', ({ backend, test, readableRoots }) => {
  const openIn = async (stored: string): Promise<Sandbox> => {
    const policy = parsePolicy({ mode: 'workspace-write', ...(await asView(stored)), readableRoots })
    return closeLater(await openSandbox(policy, { backend, image }))
  }
  const work = async (sandbox: Sandbox, script: string): Promise<string> => {
    const { stdout, stderr, result } = await run(sandbox, `cat > /tmp/s <<'E'\n${script}\nE\nbash -e /tmp/s`)
    expect({ stderr, result }).toMatchObject({ stderr: '', result: { status: 'exited', code: 0, denials: [] } })
    return stdout
  }

  test.each(names)('keeps branches, tags, remotes, stashes and reflogs whose names contain %s', async (name) => {
    const workspace = await repository()
    onHost(
      workspace,
      `git checkout -qb feature/${name}; git commit -qm second --allow-empty; git branch ${name}; git tag ${name}; git tag -am t t-${name}
      git update-ref refs/remotes/${name}/main main; git symbolic-ref refs/remotes/${name}/HEAD refs/remotes/${name}/main
      git config remote.${name}.url /nowhere/${name}; git config branch.${name}.description ${name}; echo x >> file; git stash -q; git pack-refs --all; git branch loose-${name}`,
    )
    const before = stateOf(workspace)
    const sandbox = await openIn(workspace)
    const seen = await work(
      sandbox,
      'git for-each-ref | sha256sum; git config --list | grep -c nowhere; git log --format=%s',
    )
    expect(seen).toBe(`${onHost(workspace, 'git for-each-ref | sha256sum')}1\nsecond\nfirst\n`)
    await work(sandbox, 'echo y > y')
    expect(stateOf(workspace)).toBe(before)

    await work(
      sandbox,
      `git add y; git commit -qm third; git tag new-${name}; git branch -qD loose-${name}; git branch new-${name}`,
    )
    expect(onHost(workspace, 'git log --format=%s; git symbolic-ref HEAD')).toBe(
      onHost(workspace, `printf 'third\\nsecond\\nfirst\\n'; echo refs/heads/feature/${name}`),
    )
    const [old, now] = onHost(workspace, 'git rev-parse HEAD~1 HEAD').trim().split('\n')
    const was = before.split('\nref: ')[0]?.split('\n') ?? []
    const expected = was
      .filter((line) => !line.includes('\trefs/heads/loose-'))
      .map((line) => (line.includes('\trefs/heads/feature/') ? line.replace(old ?? '', now ?? '') : line))
    const refs = onHost(workspace, 'git for-each-ref').split('\n').slice(0, -1)
    expect(refs.filter((line) => !line.includes('/new-'))).toEqual(expected)
    expect(refs.filter((line) => line.includes('/new-'))).toHaveLength(2)
    expect(onHost(workspace, `git reflog --format=%gs feature/${name}`)).toMatch(
      /^commit: third\ncommit: second\nbranch: Created from HEAD\n$/,
    )
    expect(onHost(workspace, 'git reflog --format=%gs')).toMatch(/^commit: third\n/)
    onHost(workspace, 'git fsck --strict')
  })

  test('keeps earlier changes to a branch whose name is not ASCII', async () => {
    const workspace = await repository()
    onHost(workspace, "git checkout -qb 'größe'")
    const sandbox = await openIn(workspace)
    await work(sandbox, 'echo y > y; git add y; git commit -qm second')
    onHost(workspace, "git branch 'ö'; git commit -qm third --allow-empty")
    await work(sandbox, "git branch 'ä' 'ö'; git commit -qm fourth --allow-empty")
    expect(onHost(workspace, 'git log --format=%s')).toBe('fourth\nthird\nsecond\nfirst\n')
    expect(onHost(workspace, "git rev-list --count 'ä'; git rev-list --count 'ö'")).toBe('2\n2\n')
  })

  test('hides a file with secrets that the config includes, although its name is not ASCII', async () => {
    const [workspace, elsewhere] = [await repository(), await temporaryDirectory()]
    const file = `${elsewhere}/größe`
    writeFileSync(file, '[http]\n\textraheader = "Authorization: Basic c2VjcmV0"\n')
    onHost(workspace, `git config include.path '${file}'`)
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots: [...readableRoots, elsewhere] })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    expect((await run(sandbox, `cat '${file}'; git config --list`)).stdout).not.toContain('c2VjcmV0')
  })

  test('neither a ref that a command has damaged nor a truncated list of refs is imported as a removal', async () => {
    const workspace = await repository()
    onHost(workspace, "git branch 'ä'; git branch b; git branch c")
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git commit -qm second --allow-empty; git branch -f b; git branch -f c; git branch -f "ä"')
    const before = stateOf(workspace)
    const { result } = await run(
      sandbox,
      ": > .git/refs/heads/b; echo x > '.git/refs/heads/ä'; ln -sf main .git/refs/heads/c",
    )
    const subject = expect.stringContaining('the file that the command left in its place is not a ref')
    expect(result.denials).toEqual([1, 2, 3].map(() => expect.objectContaining({ subject })))
    expect(stateOf(workspace)).toBe(before)
    const emptied = await run(sandbox, ': > .git/packed-refs')
    expect(emptied.result.denials).toMatchObject([{ subject: expect.stringContaining('a state that git cannot read') }])
    expect(stateOf(workspace)).toBe(before)
    await work(sandbox, 'git branch -qD b')
    expect(onHost(workspace, 'git branch --format="%(refname:short)"').split('\n')).toEqual([
      'c',
      'main',
      'other',
      'Ã¤',
      '',
    ])
  })
})
