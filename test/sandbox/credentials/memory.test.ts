import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { codingsIn } from '../../support/codings.ts'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { gitSite, issueCertificate, startTlsSite } from '../../support/tls-site.ts'
import { describeInBoth } from '../both-backends.ts'
import { image } from '../docker-image.ts'
import { closeLater, run, temporaryDirectory } from '../helpers.ts'

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The processes that have a variable, and all others that share a namespace of processes with one of them. */
function processesWith(mark: string): readonly string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const namespaceOf = (id: string): string | undefined => attempt(() => readlinkSync(`/proc/${id}/ns/pid`))
  const own = namespaceOf('self')
  const marked = all.filter((id) => attempt(() => readFileSync(`/proc/${id}/environ`))?.includes(mark) === true)
  const spaces = new Set(marked.map(namespaceOf).filter((space) => space !== own))
  return all.filter((id) => marked.includes(id) || spaces.has(namespaceOf(id)))
}

/** Calls `see` with all of a process that can be read: its memory, its variables and its words. */
function readProcess(id: string, see: (bytes: Buffer) => void): void {
  for (const name of ['environ', 'cmdline', 'auxv'])
    see(attempt(() => readFileSync(`/proc/${id}/${name}`)) ?? Buffer.alloc(0))
  const memory = attempt(() => openSync(`/proc/${id}/mem`, 'r'))
  if (memory === undefined) return
  for (const line of (attempt(() => readFileSync(`/proc/${id}/maps`, 'utf8')) ?? '').split('\n')) {
    const [, from = '0', to = '0'] = /^([\da-f]+)-([\da-f]+) r/.exec(line) ?? []
    const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)]
    // What nobody has touched has no pages; the largest such mappings are Node's cages.
    const step = 16 * 1024 * 1024
    for (let at = start; at < end && end - start < 2 ** 31; at += step) {
      const bytes = Buffer.alloc(Math.min(step + 256, end - at))
      const length = attempt(() => readSync(memory, bytes, 0, bytes.length, at))
      if (length !== undefined && length > 0) see(bytes.subarray(0, length))
    }
  }
  closeSync(memory)
}

describeInBoth('in %s', ({ backend, test: inBackend, readableRoots }) => {
  const test = testUnless(whyNotRoot('reads the memory of other processes'), inBackend)

  test('the value is in no process of a command while it is used, nor in a file or an output', async () => {
    const value = randomBytes(20).toString('hex')
    const mark = randomBytes(20).toString('hex')
    const served = tempDir()
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(served, 'app.git')])
    const basic = `Basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}`
    const repositories = gitSite(served, basic)
    const found: string[] = []
    const looked = new Set<string>()
    let marks = 0
    const look = (): void => {
      for (const id of processesWith(mark)) {
        const name = attempt(() => readFileSync(`/proc/${id}/comm`, 'utf8').trim()) ?? ''
        looked.add(name)
        readProcess(id, (bytes) => {
          found.push(...codingsIn(bytes, value).map((coding) => `${name}: ${coding}`))
          if (bytes.includes(mark)) marks++
        })
      }
    }
    const answer = (message: IncomingMessage, response: ServerResponse): void => {
      look()
      if (message.url?.startsWith('/app.git/') === true) return repositories(message, response)
      expect(message.headers.authorization).toBe(`Bearer ${value}`)
      // An echo, at first in a known coding, and then a wait, in which the client has all of it.
      response.write(JSON.stringify({ ...message.headers, again: Buffer.from(value).toString('base64') }))
      setTimeout(() => {
        look()
        response.end()
      }, 300)
    }
    const port = await startTlsSite(issueCertificate([], ['127.0.0.2']), answer, '127.0.0.2')
    const workspace = await temporaryDirectory()
    const allow = ['GET /echo', 'git-push refs/heads/agent/*']
    const sandbox = await openSandbox(
      parsePolicy({
        ...{ mode: 'workspace-write', workspace, readableRoots },
        credentials: [{ name: 'acme', hosts: [`127.0.0.2:${port}`], as: 'git', allow }],
        environment: { set: { MARK: mark } },
      }),
      { backend, image, network: { secretOf: () => value } },
    )
    closeLater(sandbox)
    const { stdout, stderr, result } = await run(
      sandbox,
      `set -e
      git clone -q https://127.0.0.2:${port}/app.git app; cd app
      git -c user.name=t -c user.email=t@t commit -q --allow-empty -m one; GIT_CURL_VERBOSE=1 git push origin HEAD:refs/heads/agent/x
      curl -sv -x http://127.0.0.1:3128 http://127.0.0.2:${port}/echo
      "${process.execPath}" -e "fetch('http://127.0.0.2:${port}/echo').then((a) => a.text()).then(console.log)"
      env; cat /proc/*/environ /proc/*/cmdline || true; cat /proc/*/maps | head -c 10000000; cat /etc/hosts`,
    )
    expect(result, stderr).toMatchObject({ status: 'exited', code: 0 })
    expect(codingsIn(stdout + stderr, value)).toEqual([])
    expect(stdout).toContain('"authorization":"Bearer ****')
    expect(found).toEqual([])
    // The search finds what is there.
    expect(marks).toBeGreaterThan(10)
    for (const name of ['git-remote-http', 'curl', 'node', 'git']) expect([...looked].join(' ')).toContain(name)
    const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files) expect(codingsIn(readFileSync(join(parentPath, name)), value)).toEqual([])
  })
})
