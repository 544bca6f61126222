import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

type Message = { readonly id?: number; readonly method?: string; readonly result?: unknown; readonly error?: object }

const flags = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
  ...['--disable-extensions', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--remote-debugging-pipe',
]

/**
 * Opens a file in headless Chromium, and returns the milliseconds until all of it is loaded, laid out and drawn, by the browser's own clock. The time
 * that the browser takes to start doesn't count.
 */
export async function timePage(path: string): Promise<number> {
  const profile = mkdtempSync(join(tmpdir(), 'portcullis-chromium-'))
  const browser = spawn('chromium', [...flags, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  try {
    const { ask, once } = speakTo(browser)
    const { targetId } = (await ask('Target.createTarget', { url: 'about:blank' })) as { readonly targetId: string }
    const attached = (await ask('Target.attachToTarget', { targetId, flatten: true })) as { readonly sessionId: string }
    await ask('Page.enable', {}, attached.sessionId)
    const loaded = once('Page.loadEventFired')
    await ask('Page.navigate', { url: pathToFileURL(path).href }, attached.sessionId)
    await loaded
    // Two frames are requested: when the second one begins, the first has been drawn.
    const drawn = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'
    const question = { expression: `${drawn}.then(() => performance.now())`, awaitPromise: true }
    const answer = (await ask('Runtime.evaluate', question, attached.sessionId)) as { result: { value: number } }
    return answer.result.value
  } finally {
    const gone = new Promise((resolve) => browser.once('exit', resolve))
    if (browser.exitCode === null && browser.kill('SIGKILL')) await gone
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Speaks the browser's debugging protocol: JSON messages through two pipes, each with a zero byte at its end. */
function speakTo(browser: ChildProcess): {
  readonly ask: (method: string, params: object, sessionId?: string) => Promise<unknown>
  readonly once: (method: string) => Promise<void>
} {
  const [, , , to, from] = browser.stdio as readonly [null, null, null, Writable, Readable]
  const waiting = new Set<(message: Message) => boolean>()
  const gone = new Promise<never>((_, reject) => {
    browser.once('exit', (code) => reject(new Error(`chromium ended with ${code}`)))
    browser.once('error', reject)
  })
  // If the browser ends while nobody is waiting for a message, the rejection is ignored.
  gone.catch(() => undefined)
  let rest = ''
  from.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const message = JSON.parse(part) as Message
      for (const each of waiting) if (each(message)) waiting.delete(each)
    }
  })
  const until = <Result>(take: (message: Message) => Result | undefined): Promise<Result> =>
    Promise.race([
      gone,
      new Promise<Result>((resolve) => {
        waiting.add((message) => {
          const taken = take(message)
          if (taken !== undefined) resolve(taken)
          return taken !== undefined
        })
      }),
    ])
  let last = 0
  return {
    once: async (method) => void (await until((message) => (message.method === method ? true : undefined))),
    ask: async (method, params, sessionId) => {
      const id = ++last
      const answered = until((message) => (message.id === id ? message : undefined))
      to.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
      const { result, error } = await answered
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
      return result
    },
  }
}
