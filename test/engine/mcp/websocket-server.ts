import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Answers a client's message by calling `send`. */
type Answer = (message: { readonly id?: number; readonly method: string }, send: (message: object) => void) => void

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Starts a WebSocket server on loopback. It supports as much of RFC 6455 as MCP needs: text in single frames, and the subprotocol `mcp`. */
export async function startWebSocketServer(answer: Answer): Promise<{
  readonly url: URL
  /** Drops all connections, but continues to listen. */
  readonly drop: () => void
  readonly connections: () => number
}> {
  const sockets = new Set<Socket>()
  let connections = 0
  const http = createServer()
  http.on('upgrade', (request, socket: Socket) => {
    connections++
    sockets.add(socket)
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${magic}`).digest('base64')
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, 'Sec-WebSocket-Protocol: mcp', '', ''].join('\r\n'))
    let waiting = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes: Buffer) => {
      waiting = Buffer.concat([waiting, bytes])
      for (let frame = readFrame(waiting); frame !== undefined; frame = readFrame(waiting)) {
        waiting = waiting.subarray(frame.length)
        if (frame.opcode === 8) socket.end()
        if (frame.opcode === 1)
          answer(JSON.parse(frame.text) as Parameters<Answer>[0], (message) =>
            socket.write(textFrame(JSON.stringify({ jsonrpc: '2.0', ...message }))),
          )
      }
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const drop = (): void => sockets.forEach((socket) => socket.destroy())
  onTestFinished(() => {
    drop()
    http.close()
  })
  const url = new URL(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  return { url, drop, connections: () => connections }
}

function readFrame(bytes: Buffer): { opcode: number; text: string; length: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = (bytes[1] ?? 0) & 127
  const header = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < header + 4) return undefined
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  const length = header + 4 + size
  if (bytes.length < length) return undefined
  const mask = bytes.subarray(header, header + 4)
  const payload = bytes.subarray(header + 4, length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  return { opcode: (bytes[0] ?? 0) & 15, text: Buffer.from(payload).toString(), length }
}

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const header = Buffer.alloc(payload.length < 126 ? 2 : 4)
  header[0] = 0x81
  header[1] = payload.length < 126 ? payload.length : 126
  if (payload.length >= 126) header.writeUInt16BE(payload.length, 2)
  return Buffer.concat([header, payload])
}
