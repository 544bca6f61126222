import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import process from 'node:process'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished } from 'vitest'
import { webFetch } from '../../../engine/tools/web-fetch.ts'
import type { ApprovalMode } from '../../../policies/index.ts'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../../sandbox/index.ts'
import { closeLater, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath } from '../../support/call-path.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Answer = (response: ServerResponse) => void

const html = (text: string): Answer => {
  return (response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(text)
}

const redirect = (location: string): Answer => {
  return (response) => response.writeHead(302, { location }).end()
}

/** A web server on loopback with the names `site.test`, which is on the allow-list, and `other.test`, which is not. */
async function open(
  answers: Readonly<Record<string, Answer>>,
  more: { readonly network?: SandboxPolicyInput['network']; readonly approvalMode?: ApprovalMode } = {},
) {
  const asked: string[] = []
  const server = createServer((message, response) => {
    asked.push(message.url ?? '')
    const answer = answers[message.url ?? '']
    if (answer === undefined) response.writeHead(404).end('nothing here')
    else answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const policy = parsePolicy({
    mode: 'workspace-write',
    workspace: tempDir(),
    readableRoots: [dirname(process.execPath)],
    network: more.network ?? { mode: 'allowlist', allow: [{ host: `site.test:${port}`, allowPrivate: true }] },
  })
  const sandbox = closeLater(await openSandbox(policy, { network: { resolve: async () => ['127.0.0.1'] } }))
  const { call, events } = await openPath({ tools: [webFetch], sandbox, approvalMode: more.approvalMode ?? 'bypass' })
  const items = () =>
    events.flatMap((event) => (event.type === 'item.completed' && event.item.type === 'tool_call' ? [event.item] : []))
  return { port, asked, items, site: `http://site.test:${port}`, fetch: (url: string) => call('web_fetch', { url }) }
}

describe('a fetch returns', () => {
  test('a page as Markdown, with whole links and without scripts', async () => {
    const page =
      '<html><head><title>T</title><style>a{}</style></head><body><h1>Head</h1><script>no()</script><p>A <a href="/b">link</a>.</p></body></html>'
    const { fetch, site } = await open({ '/': html(page) })
    expect(await fetch(`${site}/`)).toMatchObject({
      ok: true,
      output: `${site}/: status 200, text/html; charset=utf-8, ${page.length} bytes\n\n# Head\n\nA [link](${site}/b).`,
    })
  })

  test('other text as it is, decompressed and decoded from its character set', async () => {
    const { fetch, site } = await open({
      '/packed': (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync('{"a": "<b>"}')),
      '/latin': (response) =>
        response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('caf\u00e9', 'latin1')),
    })
    expect((await fetch(`${site}/packed`)).output).toMatch(/\n\n\{"a": "<b>"\}$/)
    expect((await fetch(`${site}/latin`)).output).toMatch(/\n\ncafé$/)
  })

  test('a sentence for content that is not text, and a failure as a failure', async () => {
    const { fetch, site } = await open({
      '/data': (response) => response.setHeader('content-type', 'image/png').end(Buffer.from([1, 0, 2])),
    })
    expect((await fetch(`${site}/data`)).output).toContain('The page is not text (image/png, 3 bytes)')
    expect(await fetch(`${site}/gone`)).toMatchObject({ ok: false, output: expect.stringContaining('status 404') })
  })

  test('a very deeply nested page as it is, because the conversion would take too long', async () => {
    const { fetch, site } = await open({ '/deep': html('<div>'.repeat(100_000)) })
    expect((await fetch(`${site}/deep`)).output).toContain('<div><div>')
  })

  test('at most the first 5 MB', async () => {
    const { fetch, site } = await open({
      '/long': (response) => response.setHeader('content-type', 'text/plain').end('x'.repeat(6 * 1024 * 1024)),
    })
    const { output } = await fetch(`${site}/long`)
    expect(output).toContain(`${5 * 1024 * 1024} bytes (only the first part`)
    expect(output.length).toBeLessThan(50_000)
  })
})

describe('a fetch may go', () => {
  test('nowhere while the network is off, and the message says how to change that', async () => {
    const { fetch, site, asked } = await open({}, { network: { mode: 'off' } })
    expect(await fetch(`${site}/`)).toMatchObject({
      ok: false,
      output: expect.stringContaining('allowed_hosts'),
      refused: { decision: 'deny', decided_by: 'confinement' },
    })
    expect(asked).toEqual([])
  })

  test('only to hosts of the allow-list', async () => {
    const { fetch, port, asked, items } = await open({})
    const { ok, output } = await fetch(`http://other.test:${port}/`)
    expect(ok).toBe(false)
    expect(output).toMatch(/: The sandbox refused a connection to other\.test:\d+ .*allowed_hosts/)
    expect(await fetch(`http://127.0.0.1:${port}/`)).toMatchObject({ ok: false })
    expect(asked).toEqual([])
    const refused = { status: 'declined', verdict: { decision: 'deny', decided_by: 'confinement' } }
    expect(items()).toMatchObject([refused, refused])
  })

  test('where a redirect leads, if that is in the allow-list', async () => {
    const { fetch, site, port, asked, items } = await open({
      '/near': redirect('/there'),
      '/there': (response) => response.setHeader('content-type', 'text/plain').end('arrived'),
      '/away': (response) => redirect(`http://other.test:${port}/there`)(response),
      '/odd': redirect('file:///etc/passwd'),
      '/loop': redirect('/loop'),
    })
    expect((await fetch(`${site}/near`)).output).toMatch(/^http:\/\/site\.test:\d+\/there: [^]*arrived$/)
    expect((await fetch(`${site}/away`)).output).toContain('The sandbox refused a connection to other.test')
    expect(items().map(({ status }) => status)).toEqual(['completed', 'declined'])
    expect((await fetch(`${site}/odd`)).output).toContain("file: can't be fetched")
    const before = asked.length
    expect((await fetch(`${site}/loop`)).output).toContain('redirects more than 5 times')
    expect(asked.length - before).toBe(6)
  })

  test('only to public addresses if the whole network is open', async () => {
    const { fetch, port, asked } = await open({}, { network: { mode: 'full' } })
    const places = [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `2130706433:${port}`,
    ]
    for (const place of [...places, '169.254.169.254', '10.0.0.1', '[fd00:ec2::254]', '0.0.0.0']) {
      expect(await fetch(`http://${place}/`), place).toMatchObject({
        ok: false,
        output: expect.stringContaining('only from public addresses'),
      })
    }
    expect(asked).toEqual([])
  })

  test.each([[undefined], [{ mode: 'off' as const }]])(
    'never to a loopback address, with the network %j',
    async (network) => {
      const { fetch, port, asked } = await open({}, { network })
      for (const host of ['localhost', '127.0.0.1', '[::1]']) {
        const { ok, output } = await fetch(`http://${host}:${port}/`)
        expect([ok, output]).toEqual([false, expect.stringContaining('For a server of your own at')])
      }
      expect(asked).toEqual([])
    },
  )

  test('only to HTTP and HTTPS addresses without a password', async () => {
    const { fetch } = await open({})
    expect((await fetch('file:///etc/passwd')).output).toContain("file: can't be fetched")
    expect((await fetch('http://user:word@site.test/')).output).toContain('user name or password')
    expect((await fetch('site.test')).output).toContain('is not a URL')
  })

  test('only where the Guardian allows it', async () => {
    const { fetch, site, asked } = await open({}, { approvalMode: 'untrusted' })
    expect(await fetch(`${site}/`)).toMatchObject({
      ok: false,
      refused: { reason: expect.stringContaining('No rule covers') },
    })
    expect(asked).toEqual([])
  })
})
