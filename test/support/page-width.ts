import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { tempDir } from './temp-dir.ts'

type Answer = {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly result?: { readonly value?: unknown } }
  readonly error?: { readonly message: string }
}

/**
 * Lays a page out in headless Chromium, in a window of this width, and returns the width that the page then has. The page is wider than the window if
 * a part of it sticks out, so that a reader would have to scroll sideways.
 *
 * This uses Chromium's debugging protocol, because a real window has a minimum width, and because the page's policy forbids a test's scripts.
 */
export async function widthOfPage(page: string, window: number): Promise<number> {
  const [file, profile] = [join(tempDir(), 'page.html'), tempDir()]
  writeFileSync(file, page)
  const still = ['--no-first-run', '--disable-extensions', '--disable-background-networking', '--disable-sync']
  const words = [
    '--headless=new',
    '--hide-scrollbars',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    ...still,
  ]
  const browser = spawn(
    'chromium',
    [...words, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(browser, 'exit')
  try {
    const { host } = new URL(await debuggingAddress(browser.stderr))
    const tabs = (await (await fetch(`http://${host}/json/list`)).json()) as readonly {
      readonly type: string
      readonly webSocketDebuggerUrl: string
    }[]
    const tab = tabs.find(({ type }) => type === 'page')
    if (tab === undefined) throw new Error('Chromium has no tab')
    const socket = new WebSocket(tab.webSocketDebuggerUrl)
    await once(socket, 'open')
    return await measured(socket, pathToFileURL(file).href, window)
  } finally {
    browser.kill('SIGKILL')
    await ended
  }
}

async function debuggingAddress(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('Chromium ended before it could be asked')
}

async function measured(socket: WebSocket, url: string, width: number): Promise<number> {
  const waiting = new Map<number, (answer: Answer) => void>()
  const loaded = new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
      else if (answer.method === 'Page.loadEventFired') resolve()
    })
  })
  const ask = async (method: string, params: object = {}): Promise<Answer> => {
    const id = waiting.size + 1
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const answer = await answered
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer
  }
  const screen = { width, height: 800, deviceScaleFactor: 1, mobile: false }
  await ask('Emulation.setDeviceMetricsOverride', screen)
  await ask('Page.enable')
  await ask('Page.navigate', { url })
  await loaded
  const expression = 'document.documentElement.scrollWidth'
  const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true })
  return Number(result?.result?.value)
}
