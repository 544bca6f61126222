import { execFileSync } from 'node:child_process'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { openCredentials } from '../../../engine/config/credentials.ts'
import type { Settings } from '../../../engine/config/settings-schema.ts'
import { openSandbox, parsePolicy, type NetworkOptions } from '../../../sandbox/index.ts'
import { describeInBoth } from '../../sandbox/both-backends.ts'
import { asView } from '../../sandbox/git-repositories.ts'
import { image } from '../../sandbox/docker-image.ts'
import { closeLater, run, temporaryDirectory } from '../../sandbox/helpers.ts'
import { needsPrograms, testUnless } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { gitSite, issueCertificate, startTlsSite } from '../../support/tls-site.ts'

type Use = Parameters<NonNullable<NetworkOptions['onUse']>>[0]
type Answer = (message: IncomingMessage, response: ServerResponse) => void

const modules = join(import.meta.dirname, '../../../node_modules')
const address = `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`

/** Why no site can be started at the port of https, where clients expect the services; undefined if it can. */
const whyNoPort = await new Promise<string | undefined>((resolve) => {
  const server = createServer().once('error', (error) =>
    resolve(`no site can be started at port 443: ${error.message}`),
  )
  server.listen(443, address, () => server.close(() => resolve(undefined)))
})

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...words], { cwd, encoding: 'utf8' }).trim()

/** What a site was asked, and by which authorization. */
const asked = ({ method, url, headers }: IncomingMessage): string =>
  `${method} ${url} ${headers.authorization ?? headers['x-api-key'] ?? 'nobody'}`

const json = (response: ServerResponse, body: unknown): void => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}

/** What GitHub answers to the GraphQL documents of gh. */
function answerGh(document: string): unknown {
  const owner = { id: 'O', login: 'acme' }
  const repository = {
    ...{ id: 'R', name: 'app', owner, hasIssuesEnabled: true, viewerPermission: 'ADMIN', isPrivate: true },
    defaultBranchRef: { name: 'main' },
    pullRequests: {
      totalCount: 1,
      pageInfo: { hasNextPage: false, endCursor: '' },
      nodes: [
        {
          ...{ number: 7, title: 'Mend it', state: 'OPEN', url: 'https://github.com/acme/app/pull/7', isDraft: false },
          ...{ headRefName: 'agent/x', baseRefName: 'main', headRepositoryOwner: owner, isCrossRepository: false },
        },
      ],
    },
    issues: { totalCount: 1, pageInfo: { hasNextPage: false }, nodes: [{ number: 3, title: 'Broken', state: 'OPEN' }] },
  }
  if (document.includes('createPullRequest(')) {
    return { createPullRequest: { pullRequest: { id: 'P', url: 'https://github.com/acme/app/pull/8' } } }
  }
  if (document.includes('createIssue('))
    return { createIssue: { issue: { id: 'I', url: 'https://github.com/acme/app/issues/4' } } }
  if (document.includes('PullRequestForBranch')) {
    return { repository: { ...repository, pullRequests: { ...repository.pullRequests, nodes: [] } } }
  }
  if (document.includes('__type'))
    return { PullRequest: { fields: [] }, StatusCheckRollupContextConnection: { fields: [] } }
  return { repository, repo_000: repository, viewer: { login: 'me' } }
}

describeInBoth('with a credential in %s', ({ backend, test: inBackend, readableRoots }) => {
  const test = testUnless(whyNoPort, inBackend)
  const needing = (...programs: readonly string[]) => (needsPrograms(...programs) ? test.skip : test)

  /** Opens a sandbox with a preset's credential whose hosts are a site of this test. */
  async function open(
    table: NonNullable<Settings['credentials']>[string],
    hosts: readonly string[],
    site: (value: string) => Answer,
    prepare: (workspace: string) => void = () => undefined,
  ) {
    const prefix = { npm: 'npm_', pypi: 'pypi-', openai: 'sk-', anthropic: 'sk-ant-', github: 'ghs_', gitlab: 'glpat-' }
    const value = `${prefix[table.preset ?? 'github']}${randomBytes(20).toString('hex')}`
    const seen: string[] = []
    const answer = site(value)
    await startTlsSite(
      issueCertificate(hosts),
      (message, response) => {
        seen.push(asked(message))
        answer(message, response)
      },
      address,
      443,
    )
    const workspace = await temporaryDirectory()
    prepare(workspace)
    const from = { env: 'SECRET_OF_THE_TEST' }
    const credentials = await openCredentials(
      { credentials: { app: { ...table, from } } },
      { SECRET_OF_THE_TEST: value },
      workspace,
    )
    const uses: Use[] = []
    const sandbox = await openSandbox(
      parsePolicy({
        ...{ mode: 'workspace-write', ...(await asView(workspace)), readableRoots: [...readableRoots, modules] },
        credentials: credentials.policy,
        environment: { set: { ...credentials.set, GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@t', HOME: '/tmp' } },
      }),
      {
        ...{ backend, image },
        network: { secretOf: credentials.secretOf, onUse: (use) => uses.push(use), resolve: async () => [address] },
      },
    )
    closeLater(sandbox)
    const done = async (script: string): Promise<string> => {
      const { result, stdout, stderr } = await run(sandbox, `set -e; ${script}`)
      expect(result, stdout + stderr + JSON.stringify(seen)).toMatchObject({ status: 'exited', code: 0 })
      expect((stdout + stderr).includes(value)).toBe(false)
      return stdout + stderr
    }
    const operations = (): ReadonlySet<string> => new Set(uses.map(({ operation }) => operation))
    return { done, seen, value, workspace, operations, sandbox }
  }

  /** GitHub: its git server with one repository, and what gh asks for. */
  const github =
    (served: string) =>
    (value: string): Answer => {
      const repositories = gitSite(served, `Basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}`)
      return (message, response) => {
        if (message.headers.host === 'github.com') return repositories(message, response)
        if (message.headers.authorization !== `Bearer ${value}`) return void response.writeHead(401).end()
        if (message.url !== '/graphql') return json(response, { full_name: 'acme/app' })
        void text(message).then((body) =>
          json(response, { data: answerGh((JSON.parse(body) as { query: string }).query) }),
        )
      }
    }
  async function openGithub(allow?: readonly string[], prepare?: (workspace: string) => void) {
    const served = tempDir()
    git(served, 'init', '-q', '--bare', '-b', 'main', 'acme/app.git')
    const seed = tempDir()
    git(seed, 'init', '-q', '-b', 'main')
    git(seed, 'commit', '-q', '--allow-empty', '-m', 'one')
    git(seed, 'push', '-q', join(served, 'acme/app.git'), 'HEAD:main')
    const table = { preset: 'github' as const, ...(allow === undefined ? {} : { allow: [...allow] }) }
    const opened = await open(table, ['github.com', 'api.github.com', 'uploads.github.com'], github(served), prepare)
    return { ...opened, branches: () => git(join(served, 'acme/app.git'), 'branch', '--format=%(refname:short)') }
  }

  test.each(['https://github.com/', 'git@github.com:', 'ssh://git@github.com/'])(
    'git clones, fetches and pushes with a remote at %s',
    async (remote) => {
      const { done, branches, operations } = await openGithub()
      const output = await done(`
        git clone -q ${remote}acme/app.git app; cd app; git fetch -q; git config remote.origin.url
        GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t git commit -q --allow-empty -m two; git push -q origin HEAD:agent/x`)
      expect(output).toBe(`${remote}acme/app.git\n`)
      expect(branches()).toBe('agent/x\nmain')
      expect([...operations()]).toContain('git-push refs/heads/agent/x /acme/app')
    },
  )

  test('addresses that the repository itself rewrites lead git nowhere else', async () => {
    const { done, branches, seen } = await openGithub(undefined, (workspace) => {
      git(workspace, 'init', '-q', '-b', 'main')
      git(workspace, 'remote', 'add', 'origin', 'git@github.com:acme/app.git')
      for (const [base, key, beginning] of [
        // As actions/checkout and people write it.
        ['https://github.com/', 'insteadOf', 'git@github.com:'],
        ['git@github.com:', 'pushInsteadOf', 'https://github.com/'],
        ['https://evil.test/', 'insteadOf', 'git@github.com:acme/'],
        ['https://evil.test/', 'insteadOf', 'https://github.com/acme/'],
        ['https://evil.test/', 'pushInsteadOf', 'git@'],
        ['https://mirror.test/', 'insteadOf', 'https://other.test/'],
      ] as const)
        git(workspace, 'config', '--add', `url.${base}.${key}`, beginning)
    })
    const output = await done(`
      git fetch -q; git fetch -q https://github.com/acme/app.git; git checkout -q -b agent/x origin/main
      GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t git commit -q --allow-empty -m two
      git push -q origin HEAD:agent/x; git push -q https://github.com/acme/app.git HEAD:agent/y
      git config --get-all url.https://mirror.test/.insteadOf`)
    expect(output).toBe('https://other.test/\n')
    expect(branches()).toBe('agent/x\nagent/y\nmain')
    expect(seen.length).toBeGreaterThan(5)
  })

  needing('gh')('gh lists and creates pull requests and issues, and asks the API', async () => {
    const allow = ['GET /**', 'graphql query *', 'git-fetch', 'graphql createPullRequest', 'graphql createIssue']
    const { done, operations } = await openGithub(allow)
    const output = await done(`
      git clone -q git@github.com:acme/app.git app; cd app
      gh pr list; gh pr create --title t --body b --head agent/x --base main
      gh issue list; gh issue create --title t --body b; gh api repos/acme/app --jq .full_name`)
    expect(output).toContain('Mend it')
    expect(output).toContain('https://github.com/acme/app/pull/8\n')
    expect(output).toContain('Broken')
    expect(output).toContain('https://github.com/acme/app/issues/4\nacme/app\n')
    for (const operation of [
      'graphql mutation createPullRequest',
      'graphql mutation createIssue',
      'GET /repos/acme/app',
    ])
      expect([...operations()]).toContain(operation)
  })

  needing('npm')('npm installs and publishes', async () => {
    const published: string[] = []
    const table = { preset: 'npm' as const, allow: ['GET /**', 'PUT /acme-package'] }
    const { done, seen, value } = await open(table, ['registry.npmjs.org'], (secret) => (message, response) => {
      if (message.headers.authorization !== `Bearer ${secret}`) return void response.writeHead(401).end()
      if (message.method !== 'PUT') {
        const [last] = published
        const body = last && (JSON.parse(last) as { _attachments: Record<string, { data: string }> })
        const [attachment] = Object.values(body ? body._attachments : {})
        if (message.url?.endsWith('.tgz') === true)
          return void response.end(Buffer.from(attachment?.data ?? '', 'base64'))
        if (body === undefined || body === '') return void response.writeHead(404).end('{}')
        return json(response, body)
      }
      void text(message).then((body) => {
        published.push(body)
        json(response, { ok: true })
      })
    })
    await done(`
      echo '{"name":"acme-package","version":"1.0.0"}' > package.json
      echo '//registry.npmjs.org/:_authToken=\${NODE_AUTH_TOKEN}' > .npmrc
      npm publish --silent; mkdir user; cd user; cp ../.npmrc .; npm init -y >&-; npm install --silent acme-package; ls node_modules/acme-package/package.json`)
    expect(published).toHaveLength(1)
    expect(seen).toContain(`PUT /acme-package Bearer ${value}`)
  })

  /** A package for Python. */
  const makeWheel = (folder: string): Buffer => {
    const script = `import zipfile; z = zipfile.ZipFile('acme_package-1.0-py3-none-any.whl', 'w')
z.writestr('acme_package.py', 'x = 1')
z.writestr('acme_package-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: acme-package\\nVersion: 1.0\\n')
z.writestr('acme_package-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
z.writestr('acme_package-1.0.dist-info/RECORD', '')
z.close()`
    execFileSync('python3', ['-c', script], { cwd: folder })
    return readFileSync(join(folder, 'acme_package-1.0-py3-none-any.whl'))
  }

  needing('/usr/bin/python3', '/usr/bin/pip3')('pip installs from a private index', async () => {
    const wheel = makeWheel(tempDir())
    const hash = createHash('sha256').update(wheel).digest('hex')
    const table = { preset: 'pypi' as const, for: ['pypi.acme.test'] }
    const { done, seen, value } = await open(table, ['pypi.acme.test'], (secret) => (message, response) => {
      const authorization = `Basic ${Buffer.from(`__token__:${secret}`).toString('base64')}`
      if (message.headers.authorization !== authorization) return void response.writeHead(401).end()
      if (message.url?.startsWith('/simple/') !== true) return void response.end(wheel)
      const link = `<a href="/files/acme_package-1.0-py3-none-any.whl#sha256=${hash}">x</a>`
      response.setHeader('content-type', 'text/html').end(`<!doctype html><html><body>${link}</body></html>`)
    })
    await done('/usr/bin/python3 -m pip install -q --no-cache-dir --target lib acme-package; cat lib/acme_package.py')
    expect(seen).toContain(
      `GET /files/acme_package-1.0-py3-none-any.whl Basic ${Buffer.from(`__token__:${value}`).toString('base64')}`,
    )
  })

  needing('python3', '/usr/bin/twine')('twine uploads', async () => {
    const uploads: string[] = []
    const table = { preset: 'pypi' as const, allow: ['POST /legacy/'] }
    const { done, workspace } = await open(table, ['upload.pypi.org'], (secret) => (message, response) => {
      const authorization = `Basic ${Buffer.from(`__token__:${secret}`).toString('base64')}`
      if (message.headers.authorization !== authorization) return void response.writeHead(401).end()
      void text(message).then((body) => {
        uploads.push(body)
        response.end('OK')
      })
    })
    mkdirSync(join(workspace, 'dist'))
    writeFileSync(join(workspace, 'dist/acme_package-1.0-py3-none-any.whl'), makeWheel(tempDir()))
    await done('/usr/bin/twine upload --non-interactive dist/*')
    expect(uploads).toHaveLength(1)
    expect(uploads[0]).toContain('name="sha256_digest"')
  })

  const answersModel: (value: string) => Answer = (value) => (message, response) => {
    if (![message.headers.authorization, message.headers['x-api-key']].some((sent) => `${sent}`.endsWith(value))) {
      return void response.writeHead(401).end()
    }
    void text(message).then((body) => {
      const { stream } = JSON.parse(body) as { stream?: boolean }
      const isOpenai = message.url?.startsWith('/v1/chat/') === true
      const openai = {
        id: 'c',
        choices: [{ index: 0, delta: { content: 'hello' }, message: { role: 'assistant', content: 'hello' } }],
      }
      const anthropic = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hello' }] }
      if (stream !== true) return json(response, isOpenai ? openai : anthropic)
      const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }
      const event = isOpenai
        ? `data: ${JSON.stringify(openai)}\n\ndata: [DONE]\n\n`
        : `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`
      response.setHeader('content-type', 'text/event-stream').end(event)
    })
  }

  test.each([
    [
      'openai',
      'api.openai.com',
      `const c = new (require('${modules}/openai').default)(); const r = { model: 'x', messages: [] }
       console.log((await c.chat.completions.create(r)).choices[0].message.content)
       for await (const e of await c.chat.completions.create({ ...r, stream: true })) console.log(e.choices[0].delta.content)`,
    ],
    [
      'anthropic',
      'api.anthropic.com',
      `const c = new (require('${modules}/@anthropic-ai/sdk').default)(); const r = { model: 'x', max_tokens: 1, messages: [] }
       console.log((await c.messages.create(r)).content[0].text)
       for await (const e of await c.messages.create({ ...r, stream: true })) console.log(e.delta.text)`,
    ],
  ] as const)("the client of %s asks a model, with or without the proxy's variables", async (preset, host, script) => {
    const { done, workspace } = await open({ preset }, [host], answersModel)
    writeFileSync(join(workspace, 'ask.cjs'), `(async () => { ${script} })()`)
    const output = await done('node ask.cjs; env -u HTTP_PROXY -u http_proxy -u NODE_USE_ENV_PROXY node ask.cjs')
    expect(output).toBe('hello\n'.repeat(4))
  })
})
