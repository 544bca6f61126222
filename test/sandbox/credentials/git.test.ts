import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSandbox, parsePolicy, type NetworkOptions } from '../../../sandbox/index.ts'
import { gitSite, issueCertificate, startTlsSite } from '../../support/tls-site.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { describeInBoth } from '../both-backends.ts'
import { image } from '../docker-image.ts'
import { closeLater, run, temporaryDirectory } from '../helpers.ts'

type Use = Parameters<NonNullable<NetworkOptions['onUse']>>[0]

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...words], { cwd, encoding: 'utf8' }).trim()

describeInBoth('git with a credential in %s', ({ backend, test, readableRoots }) => {
  /** A sandbox whose commands may use a git server, which has one repository with one commit. */
  async function openWithServer(allow: readonly string[]) {
    const value = randomBytes(20).toString('hex')
    const [served, workspace] = [tempDir(), await temporaryDirectory()]
    const origin = join(served, 'acme', 'app.git')
    git(served, 'init', '-q', '--bare', '-b', 'main', origin)
    const seed = tempDir()
    git(seed, 'clone', '-q', origin, '.')
    writeFileSync(join(seed, 'a.txt'), 'one\n')
    git(seed, 'add', '.')
    git(seed, 'commit', '-qm', 'one')
    git(seed, 'push', '-q', origin, 'HEAD:main', 'HEAD:agent/old')
    const authorization = `Basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}`
    const port = await startTlsSite(
      issueCertificate(['git.acme.test'], ['127.0.0.2']),
      gitSite(served, authorization),
      '127.0.0.2',
    )
    const uses: Use[] = []
    const hosts = [`127.0.0.2:${port}`]
    const sandbox = await openSandbox(
      parsePolicy({
        ...{ mode: 'workspace-write', workspace, readableRoots },
        credentials: [{ name: 'acme', hosts, as: 'git', allow }],
        environment: {
          set: {
            GIT_AUTHOR_NAME: 't',
            GIT_AUTHOR_EMAIL: 't@t.test',
            GIT_COMMITTER_NAME: 't',
            GIT_COMMITTER_EMAIL: 't@t.test',
          },
        },
      }),
      { backend, image, network: { secretOf: () => value, onUse: (use) => uses.push(use) } },
    )
    const branches = (): string => git(origin, 'for-each-ref', '--format=%(refname:short) %(subject)')
    return {
      sandbox: closeLater(sandbox),
      workspace,
      origin,
      uses,
      branches,
      value,
      url: `https://127.0.0.2:${port}/acme/app.git`,
    }
  }

  test('clones, fetches and pushes; remotes stay as they are, and every use is reported', async () => {
    const { sandbox, uses, branches, value, url } = await openWithServer(['git-push refs/heads/agent/* /acme/app'])
    const script = `
      set -e
      git clone -q ${url} app; cd app; git config remote.origin.url
      git fetch -q origin
      echo two > b.txt; git add .; git commit -qm two; git push -q origin HEAD:refs/heads/agent/new
      env; cat .git/config`
    const { result, stdout, stderr } = await run(sandbox, script)
    expect(result, stderr).toMatchObject({ status: 'exited', code: 0 })
    expect(stdout).toContain(`${url}\n`)
    expect(stdout + stderr).not.toContain(value)
    expect(branches()).toBe('agent/new two\nagent/old one\nmain one')
    expect(new Set(uses.map(({ operation }) => operation))).toEqual(
      new Set(['git-fetch /acme/app', 'git-push /acme/app', 'git-push refs/heads/agent/new /acme/app']),
    )
    expect(uses.every(({ credential, status }) => credential === 'acme' && status === 200)).toBe(true)
  })

  test('a branch moves forward only, and nothing else is pushed, moved or deleted', async () => {
    const { sandbox, branches, url } = await openWithServer(['git-push refs/heads/agent/*'])
    const clone = await run(sandbox, `git clone -q ${url} .`)
    expect(clone.stderr).toBe('')
    const script = `
      echo two > b.txt; git add .; git commit -qm two
      git push -q origin HEAD:agent/old || echo "no forward"
      git commit -q --amend -m three
      git push -q -f origin HEAD:agent/old && echo "forced"
      git push -q origin HEAD:main && echo "main"
      git push -q origin :agent/old && echo "deleted"
      git push -q -o ci.skip origin HEAD:agent/new && echo "options"
      git push -q origin HEAD:refs/tags/agent/x && echo "tag"
      true`
    const { stdout, stderr, result } = await run(sandbox, script)
    expect(stdout, stderr).toBe('')
    expect(stderr).toContain('may only move forward')
    expect(stderr).toContain('no row covers git-push refs/heads/main')
    expect(branches()).toBe('agent/old two\nmain one')
    expect(result.denials.some(({ rule }) => rule.includes('refs/heads/main'))).toBe(true)
  })

  test('a repository whose commits are not what their names say moves no branch', async () => {
    const { sandbox, branches, url } = await openWithServer(['git-push refs/heads/agent/*'])
    await run(sandbox, `git clone -q ${url} .`)
    const script = `
      old=$(git rev-parse origin/agent/old); tree=$(git rev-parse HEAD^{tree})
      new=$(echo unrelated | git commit-tree $tree)
      git replace --graft $new $old
      git push -q -f origin $new:agent/old && echo "replaced"
      git replace -d $new >/dev/null; mkdir -p .git/info; echo "$new $old" > .git/info/grafts
      git push -q -f origin $new:agent/old && echo "grafted"
      rm .git/info/grafts
      good=$(echo good | git commit-tree $tree -p $old); mkdir -p .git/objects/$(echo $new | cut -c1-2)
      cp -f .git/objects/$(echo $good | sed 's,^..,&/,') .git/objects/$(echo $new | sed 's,^..,&/,')
      git push -q -f origin $new:agent/old && echo "forged"
      true`
    const { stdout, stderr } = await run(sandbox, script)
    expect(stdout, stderr).toBe('')
    expect(branches()).toBe('agent/old one\nmain one')
  })
})
