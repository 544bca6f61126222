import { execFile, spawnSync } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { tempDir } from './temp-dir.ts'

/** Why pages can't be opened in a browser here; undefined if they can. */
export function whyNoChromium(): string | undefined {
  return spawnSync('chromium', ['--version']).status === 0 ? undefined : 'the program chromium is not installed'
}

/** A page after a browser has loaded it. */
export type Opened = {
  /** The document after all scripts had time to run. */
  readonly dom: string
  /** Requests for anything but the page and its icon, to any host, which the browser sends to the test's server. Chromium's own are left out. */
  readonly requests: readonly string[]
  /** Reports of violations of the Content Security Policy that the server sent. */
  readonly violations: readonly string[]
}

/**
 * Opens a page in headless Chromium, from a server on loopback, which also gets the requests for all other hosts.
 *
 * @param policy a Content-Security-Policy that the server sends, in addition to the page's own
 */
export async function openPage(page: string, policy: string): Promise<Opened> {
  const requests: string[] = []
  const violations: string[] = []
  const server = createServer((request, response) => {
    const { url = '', method = '' } = request
    const isPage = method === 'GET' && hostOf(request.headers).startsWith('127.0.0.1') && url === '/page.html'
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      if (method === 'POST' && url.endsWith('/violations')) violations.push(body)
      else if (!isPage && !url.endsWith('/favicon.ico')) requests.push(`${method} ${hostOf(request.headers)} ${url}`)
      response.writeHead(isPage ? 200 : 404, {
        'Content-Type': isPage ? 'text/html; charset=utf-8' : 'text/plain',
        ...(isPage ? { 'Content-Security-Policy': `${policy}; report-uri /violations` } : {}),
      })
      response.end(isPage ? page : '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const { stdout } = await promisify(execFile)(
      'chromium',
      [
        ...[
          '--headless=new',
          '--no-sandbox',
          '--disable-gpu',
          '--disable-dev-shm-usage',
          '--no-first-run',
          '--disable-extensions',
        ],
        ...[
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          '--disable-default-apps',
        ],
        `--user-data-dir=${tempDir()}`,
        `--proxy-server=http://127.0.0.1:${port}`,
        ...['--virtual-time-budget=4000', '--timeout=20000', '--dump-dom', `http://127.0.0.1:${port}/page.html`],
      ],
      { maxBuffer: 256 * 1024 * 1024, timeout: 120_000 },
    )
    // Requests for Chromium's own services are left out, because Chromium makes them whichever page is open.
    return { dom: stdout, violations, requests: requests.filter((line) => !/google|gstatic|:443 /.test(line)) }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const hostOf = (headers: IncomingHttpHeaders): string => headers.host ?? ''
