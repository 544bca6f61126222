import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RunEvent } from '../../../engine/core/events.ts'
import { agent } from '../../support/agent.ts'
import { codingsIn } from '../../support/codings.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { gitSite, issueCertificate, startTlsSite } from '../../support/tls-site.ts'
import { exec, repository } from '../../support/workspace.ts'

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...words], { cwd, encoding: 'utf8' }).trim()

/** A git server with an empty repository, and the words and variables that let a run use it. */
async function startServer() {
  const served = tempDir()
  git(served, 'init', '-q', '--bare', '-b', 'main', 'acme/app.git')
  const value = `ghs_${randomBytes(18).toString('hex')}`
  const authorization = `Basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}`
  const issued = issueCertificate([], ['127.0.0.2'])
  const port = await startTlsSite(issued, gitSite(served, authorization), '127.0.0.2')
  const table = `{ preset = "github", for = ["127.0.0.2:${port}"], from = { env = "APP_TOKEN" } }`
  const branches = (): string =>
    git(join(served, 'acme/app.git'), 'for-each-ref', '--format=%(refname:short) %(subject)')
  return {
    ...{ value, port, branches },
    words: ['-c', `credentials.app=${table}`],
    env: { APP_TOKEN: value, SSL_CERT_FILE: issued.ca },
    url: `https://127.0.0.2:${port}/acme/app.git`,
  }
}

const usesIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'credential_use' ? [event.item] : [],
  )

describe.skipIf(needsBubblewrap())('a credential of a run', () => {
  test('pushes a commit of the run; each use is an event, and the record, the report and the summary tell of it', async () => {
    const { value, words, env, url, branches, port } = await startServer()
    const [cwd, home, reports] = [repository(), tempDir(), tempDir()]
    const files = ['r.md', 'r.html', 'r.json', 'r.xml', 'r.sarif', 'steps.md'].map((name) => join(reports, name))
    const summary = files.at(-1) ?? ''
    const script = [
      'git -c user.name=t -c user.email=t@t.test commit -q --allow-empty -m done',
      `git push -q ${url} HEAD:refs/heads/agent/done`,
      `git push -q ${url} HEAD:refs/heads/main || true`,
      'env',
    ]
    const { code, events, stderr, stdout, requests } = await exec(
      [[call('exec_command', { cmd: script.join('; ') })], [say('done')]],
      ['--json', ...files.slice(0, -1).flatMap((file) => ['--report', file]), ...words, 'x'],
      { cwd, home, env: { ...env, GITHUB_STEP_SUMMARY: summary } },
    )
    expect(code, stderr).toBe(0)
    expect(branches()).toBe('agent/done done')
    const host = `127.0.0.2:${port}`
    expect(
      usesIn(events).map(({ credential, operation, status }) => ({ credential, operation, status })),
    ).toContainEqual({
      ...{ credential: 'app', operation: 'git-push refs/heads/agent/done /acme/app', status: 200 },
    })
    const last = events.at(-1)
    expect(last).toMatchObject({
      record: {
        credentials: expect.arrayContaining([expect.objectContaining({ credential: 'app', host, uses: 1, failed: 0 })]),
      },
    })
    expect(stderr).toContain(`credential: app for ${host}: git-push refs/heads/agent/done /acme/app: 1 use`)
    const written = new Map(files.map((file) => [file.slice(reports.length + 1), readFileSync(file, 'utf8')]))
    for (const name of ['r.md', 'r.html', 'r.json', 'r.xml', 'steps.md'])
      expect(written.get(name)?.replaceAll('\\', ''), name).toContain('git-push refs/heads/agent/done /acme/app')
    const kept = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    const use = '"decidedBy":"credential app","reason":"git-push refs/heads/agent/done /acme/app: status 200"'
    expect(kept.filter((text) => text.includes(use))).toHaveLength(1)
    for (const text of [stdout, stderr, JSON.stringify(requests), ...written.values(), ...kept])
      expect(codingsIn(text, value)).toEqual([])
  })

  test('is known to agent sandbox, which gives the command a stand-in of the same shape', async () => {
    const { value, words, env, url } = await startServer()
    const { code, stdout, stderr } = await agent(
      ['sandbox', ...words, '--', 'sh', '-c', `git ls-remote ${url} && echo $APP_TOKEN $GH_TOKEN`],
      { cwd: repository(), home: tempDir(), env },
    )
    expect(code, stderr).toBe(0)
    const [standIn = '', same] = stdout.trim().split(' ')
    expect(standIn).toMatch(/^ghs_[A-Za-z\d]{36}$/)
    expect([standIn === value, standIn === same]).toEqual([false, true])
  })

  test('is shown by agent doctor, with what it would be used for, and without its value', async () => {
    const { value, words, env, port } = await startServer()
    const more = [
      '-c',
      'credentials.vault={ from = { command = ["/no/such/program"] }, for = ["a.test"], as = "bearer" }',
    ]
    const given = { ...env, NPM_TOKEN: `npm_${value}` }
    const told = await agent(['doctor', ...words, ...more], { cwd: repository(), home: tempDir(), env: given })
    expect(told.stdout).toContain(`ok  app: from APP_TOKEN, for 127.0.0.2:${port}: GET /**, graphql query *, git-fetch`)
    expect(told.stdout).toContain('ok  vault: from /no/such/program, which is not asked here, for a.test: nothing')
    expect(told.stdout).toMatch(/-- {2}npm: from NPM_TOKEN, for registry[^]*--credential npm lets them use it unseen/)
    expect(codingsIn(told.stdout + told.stderr, value)).toEqual([])
    const missing = await agent(['doctor', '--credential', 'pypi'], { cwd: repository(), home: tempDir() })
    expect(missing.stdout).toContain('no  pypi: credentials.pypi: there is no value')
  })

  test('is named by the first ssh that fails for the lack of one', async () => {
    const cwd = repository()
    for (const words of [[], ['--allow-host', 'other.test']]) {
      const { stderr } = await agent(['sandbox', ...words, '--', 'git', 'ls-remote', 'git@github.com:acme/app'], {
        ...{ cwd, home: tempDir() },
      })
      expect(stderr).toContain('pass --credential NAME (such as github) with a credential for github.com')
    }
  })

  test('is never named by a repository, and says what is missing', async () => {
    const cwd = repository({
      '.portcullis/config.toml': '[credentials.x]\nfrom = { env = "HOME" }\nfor = ["a.test"]\nas = "bearer"\n',
    })
    const trusted = await exec([[say('done')]], ['--trust', 'x'], { cwd })
    expect(trusted.stderr).toContain('credentials')
    expect(trusted.stderr).not.toContain('credential x for')
    for (const [words, expected] of [
      [['--credential', 'github'], 'credentials.github: there is no value'],
      [['--credential', 'nothing'], '--credential "nothing": must be one of github'],
      [['-c', 'credentials.a={ for = ["a.test"] }'], 'credentials.a: must have "for"'],
      [
        ['-c', 'credentials.a={ for = ["a.test"], as = "bearer", allow = ["get /"], from = { env = "PATH" } }'],
        'must be "METHOD /path"',
      ],
    ] as const) {
      const { code, stderr } = await exec([[say('done')]], [...words, 'x'], { cwd: repository() })
      expect(code, stderr).toBe(2)
      expect(stderr).toContain(expected)
    }
  })

  test('of a job is found where actions/checkout left it, and commands find it in no coding', async () => {
    const cwd = repository()
    const value = `ghs_${randomBytes(18).toString('hex')}`
    const coded = Buffer.from(`x-access-token:${value}`).toString('base64')
    git(cwd, 'config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${coded}`)
    const script =
      'git config -l; cat .git/config /proc/self/environ; grep -r . .git; env; git config http.https://github.com/.extraheader'
    const { code, stdout, stderr } = await agent(['sandbox', '--credential', 'github', '--', 'sh', '-c', script], {
      ...{ cwd, home: tempDir(), env: {} },
    })
    expect(code, stderr).toBe(1)
    expect(stdout).toMatch(/^GITHUB_TOKEN=ghs_[A-Za-z\d]{36}$/m)
    expect(codingsIn(stdout + stderr, value)).toEqual([])
  })

  test('of a job is in no file that commands see: of the repository, its submodules and worktrees, and what they include', async () => {
    const cwd = repository()
    const temp = mkdtempSync('/var/tmp/portcullis-runner-')
    onTestFinished(() => rmSync(temp, { recursive: true, force: true }))
    const value = `ghs_${randomBytes(18).toString('hex')}`
    const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}`
    const inner = repository()
    for (const place of [cwd, inner]) git(place, 'commit', '-q', '--allow-empty', '-m', 'one')
    git(cwd, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub')
    git(cwd, 'commit', '-qam', 'sub')
    git(cwd, 'worktree', 'add', '-q', join(cwd, 'other'))
    git(cwd, 'config', 'extensions.worktreeConfig', 'true')
    for (const place of [cwd, join(cwd, 'sub')])
      git(place, 'config', '--local', 'http.https://github.com/.extraheader', header)
    git(join(cwd, 'other'), 'config', '--worktree', 'http.https://github.com/.extraheader', header)
    // As actions/checkout does since its version 6.
    for (const [at, key] of [
      ['1', 'include.path'],
      ['2', `includeIf.gitdir:${cwd}/.git.path`],
      ['3', `includeIf.gitdir:${cwd}/.git/worktrees/*.path`],
      ['4', 'includeIf.gitdir:/github/workspace/.git.path'],
    ] as const) {
      const file = join(temp, `git-credentials-${at}.config`)
      git(cwd, 'config', '--file', file, 'http.https://github.com/.extraheader', header)
      git(cwd, 'config', '--add', key, file)
      git(join(cwd, 'sub'), 'config', '--add', `includeIf.gitdir:${cwd}/.git/modules/sub.path`, file)
    }
    const script = `cat ${temp}/* 2>&1; ls ${temp}; grep -rhaisE 'basic|ghs_' . .git ${temp} /tmp /etc/git*
      for p in . sub other; do git -C $p config -l --includes; git -C $p config --get-regexp http; done; env; cat /proc/*/environ; true`
    const { code, stdout, stderr } = await agent(['sandbox', '--credential', 'github', '--', 'sh', '-c', script], {
      ...{ cwd, home: tempDir(), env: { RUNNER_TEMP: temp, GITHUB_TOKEN: value, OTHER: `x${value}` } },
    })
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('core.bare=false')
    expect(codingsIn(stdout + stderr, value)).toEqual([])
  })
})
