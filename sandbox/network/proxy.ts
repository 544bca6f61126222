import type { Server, Socket } from 'node:net'
import type { Denial } from '../sandbox.ts'
import type { NetworkDecision, Route } from './decide.ts'
import { createGate, resolveAsSystem, type Resolve } from './gate.ts'
import { parsePatterns, type HostPatternInput } from './host-pattern.ts'
import { createHttpProxy } from './http-proxy.ts'
import { serveSocks } from './socks5.ts'

/** What a caller may want to know of the proxy, or do in its place. */
export type NetworkOptions = {
  /** Hears every decision about a host, as it is made. */
  readonly onDecision?: ((decision: NetworkDecision) => void) | undefined
  /** Why a host on the list must not be reached all the same, in words; undefined where it may be. Asked before anything is resolved. */
  readonly forbids?: ((host: string, port: number, via: Route) => string | undefined) | undefined
  /** Instead of the system's resolver. */
  readonly resolve?: Resolve | undefined
}

/** The proxy as one command has it. */
type ProxySession = {
  /** Serves the connections of a listening server, which becomes the session's own. */
  attach(server: Server): void
  /** Ends every connection, takes no more, and says what was refused. Idempotent. */
  end(): readonly Denial[]
}

/** The way out for the commands of one sandbox. It holds nothing open between them. */
type Proxy = { startSession(): ProxySession }

/** More connections at a time than any package manager makes, fewer than the engine has descriptors. */
const mostConnections = 256

/** How long a connection may stay silent before it says what it wants. */
const helloMs = 60_000

/** Different hosts that are listed as denials of one command; events are sent for all. */
const mostDenials = 20

/** Makes the proxy that lets through what `allow` has: patterns that have been checked, as in a parsed policy. */
export function createProxy(allow: readonly HostPatternInput[], options: NetworkOptions = {}): Proxy {
  const patterns = parsePatterns(allow)
  return {
    startSession: () => {
      const servers = new Set<Server>()
      const sockets = new Set<Socket>()
      const denials = new Map<string, Denial>()
      const end = new AbortController()
      const report = (decision: NetworkDecision): void => {
        if (decision.verdict === 'refused' && denials.size < mostDenials) {
          denials.set(decision.denial.subject, decision.denial)
        }
        options.onDecision?.(decision)
      }
      const gate = createGate(
        { patterns, resolve: options.resolve ?? resolveAsSystem, forbids: options.forbids },
        report,
        end.signal,
      )
      const guarded = {
        open: async (...wanted: Parameters<typeof gate.open>) => {
          const opened = await gate.open(...wanted)
          if (opened.status === 'open') keep(opened.socket)
          return opened
        },
      }
      const keep = (socket: Socket): void => {
        sockets.add(socket)
        socket.on('error', () => socket.destroy())
        socket.once('close', () => sockets.delete(socket))
        if (end.signal.aborted) socket.destroy()
      }
      const http = createHttpProxy(guarded)
      return {
        attach: (server) => {
          if (end.signal.aborted) {
            server.close()
            return
          }
          servers.add(server)
          server.maxConnections = mostConnections
          // A client may end its side of a tunnel and still wait for the answer; a server handed over knows no other way to say so.
          Object.assign(server, { allowHalfOpen: true })
          server.on('connection', (socket) => {
            keep(socket)
            distinguish(
              socket,
              () => http.emit('connection', socket),
              // A client that breaks off in the middle of its greeting wants nothing more.
              () => void serveSocks(socket, guarded).catch(() => socket.destroy()),
            )
          })
        },
        end: () => {
          end.abort()
          for (const server of servers) server.close()
          for (const socket of sockets) socket.destroy()
          return [...denials.values()]
        },
      }
    },
  }
}

/** One port for both protocols: SOCKS5 begins with a byte that no HTTP request begins with. */
function distinguish(socket: Socket, http: () => void, socks: () => void): void {
  const timer = setTimeout(() => socket.destroy(), helloMs)
  socket.once('close', () => clearTimeout(timer))
  const end = (): unknown => socket.end()
  socket.once('end', end)
  socket.once('readable', () => {
    const first: unknown = socket.read()
    if (!Buffer.isBuffer(first)) return
    socket.off('end', end)
    clearTimeout(timer)
    socket.unshift(first)
    if (first[0] === 5) socks()
    else http()
  })
}
