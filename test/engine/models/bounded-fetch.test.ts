import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { boundedFetch } from '../../../engine/models/bounded-fetch.ts'

/** Starts a server that sends the same piece of text again and again, without end. Returns its address. */
async function endless(status: number, piece: string): Promise<string> {
  const send = (response: ServerResponse): void => {
    if (response.destroyed) return
    if (response.write(piece)) setImmediate(send, response)
    else response.once('drain', () => send(response))
  }
  const server = createServer((_, response) => send(response.writeHead(status))).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const piece = `:${'x'.repeat(256 * 1024 - 1)}`

test('only the beginning of an endless error body is read', async () => {
  const refused = await boundedFetch()(await endless(500, piece))
  expect(await refused.text()).toHaveLength(256 * 1024)
})

test('a stream with an endless line fails', async () => {
  const stream = await boundedFetch()(await endless(200, piece))
  await expect(stream.text()).rejects.toMatchObject({ kind: 'malformed', retryable: true })
})

test('a stream of lines may continue without limit', async () => {
  const { body } = await boundedFetch()(await endless(200, `${piece}\n`))
  let read = 0
  for await (const chunk of body ?? []) {
    read += chunk.length
    if (read > 64 * 1024 * 1024) break
  }
  expect(read).toBeGreaterThan(64 * 1024 * 1024)
})
