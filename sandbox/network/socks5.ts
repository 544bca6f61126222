import type { Socket } from 'node:net'
import { authority } from './host.ts'
import type { Gate, Opened } from './proxy-gate.ts'
import { joinSockets } from './tunnel.ts'

// Numbers that the SOCKS5 protocol defines (RFC 1928).
const version = 5
const noAuthentication = 0
const nothingAcceptable = 0xff
const CONNECT = 1
const replies = { granted: 0, refused: 2, unreachable: 4, noSuchCommand: 7, noSuchAddress: 8 } as const

/**
 * Serves one SOCKS5 client, starting with its first byte. It supports only CONNECT, without authentication. Names are resolved here, not by the
 * client.
 */
export async function serveSocks(socket: Socket, gate: Gate): Promise<void> {
  const { take, finish } = createReader(socket)
  const [, count] = await take(2)
  const methods = await take(count ?? 0)
  if (!methods.includes(noAuthentication)) {
    socket.end(Buffer.from([version, nothingAcceptable]))
    return
  }
  socket.write(Buffer.from([version, noAuthentication]))
  const [, command, , kind] = await take(4)
  const target = await readTarget(take, kind ?? 0)
  if (command !== CONNECT || target === undefined) {
    socket.end(reply(target === undefined ? 'noSuchAddress' : 'noSuchCommand'))
    return
  }
  const opened = await gate.open(target, 'socks5')
  if (opened.status !== 'open') {
    socket.end(reply(replyTo(opened)))
  } else if (socket.destroyed) {
    opened.socket.destroy()
  } else {
    socket.write(reply('granted'))
    finish()
    joinSockets(socket, opened.socket)
  }
}

function replyTo(opened: Exclude<Opened, { status: 'open' }>): keyof typeof replies {
  return opened.status === 'refused' ? 'refused' : 'unreachable'
}

/** The bytes of a reply to the client. The client doesn't need to know the bound address, so the reply contains 0.0.0.0:0. */
function reply(code: keyof typeof replies): Uint8Array {
  return Buffer.from([version, replies[code], 0, 1, 0, 0, 0, 0, 0, 0])
}

/** Reads the destination of a request and returns it as text. All of its bytes, even NUL, are kept, so that the shared host parser can check them. */
async function readTarget(take: Take, kind: number): Promise<string | undefined> {
  const host = await readHost(take, kind)
  if (host === undefined) return undefined
  const port = (await take(2)).readUInt16BE()
  return authority(host, port)
}

async function readHost(take: Take, kind: number): Promise<string | undefined> {
  switch (kind) {
    case 1:
      return (await take(4)).join('.')
    case 3: {
      const [length = 0] = await take(1)
      return (await take(length)).toString('utf8')
    }
    case 4:
      return (await take(16)).toString('hex').replace(/(.{4})(?!$)/g, '$1:')
    default:
      return undefined
  }
}

type Take = (size: number) => Promise<Buffer>

/** The maximum number of bytes to buffer. A greeting and a request together are always shorter than that. */
const mostBytes = 2048

/**
 * Reads a client's first bytes. `take` resolves to exactly the given number of bytes, and rejects if the client disconnects before they arrive.
 * `finish` leaves all further bytes to the next reader.
 */
function createReader(socket: Socket): { readonly take: Take; readonly finish: () => void } {
  let held = Buffer.alloc(0)
  let wake = (): void => undefined
  const read = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk])
    if (held.length > mostBytes) socket.pause()
    wake()
  }
  const stop = (): void => wake()
  socket.on('data', read)
  socket.once('end', stop)
  socket.once('close', stop)
  return {
    take: async (size) => {
      while (held.length < size) {
        if (socket.readableEnded || socket.destroyed) throw new Error('the client disconnected')
        await new Promise<void>((resolve) => (wake = resolve))
      }
      const bytes = held.subarray(0, size)
      held = held.subarray(size)
      return bytes
    },
    // Bytes that arrived early belong to the next reader.
    finish: () => {
      socket.off('data', read)
      socket.pause()
      if (held.length > 0) socket.unshift(held)
    },
  }
}
