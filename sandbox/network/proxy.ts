import type { Server, Socket } from 'node:net'
import type { Denial } from '../sandbox.ts'
import type { NetworkDecision, Route } from './decide-host.ts'
import { createBroker, type BrokerOptions, type CredentialUse } from '../credentials/broker.ts'
import { readCredentials, type Credential } from '../credentials/credential.ts'
import { createGate, resolveAsSystem, type Resolve } from './proxy-gate.ts'
import { parsePatterns, type HostPatternInput } from './host-pattern.ts'
import { createHttpProxy } from './http-proxy.ts'
import { relayServices, type ServiceConnection } from './relay-services.ts'
import type { Service } from './service.ts'
import { serveSocks } from './socks5.ts'

/** Callbacks that observe the proxy or replace parts of it. */
export type NetworkOptions = {
  /** Receives every decision about a host as soon as it is made. */
  readonly onDecision?: ((decision: NetworkDecision) => void) | undefined
  /** Returns why a host is forbidden although it is on the allow-list; undefined if it isn't forbidden. This is called before the name is resolved. */
  readonly forbids?: ((host: string, port: number, via: Route) => string | undefined) | undefined
  /** Receives every connection to a service when it has ended. */
  readonly onConnection?: ((connection: ServiceConnection) => void) | undefined
  /** Receives, when a connection to a service begins, a function that returns its facts so far. Returns a function that is called when it has ended. */
  readonly onOpenConnection?: ((read: () => ServiceConnection) => () => void) | undefined
  /** Returns the value of a credential of the policy; undefined if it has none. It is asked for each request. */
  readonly secretOf?: ((credential: string) => string | undefined) | undefined
  /** Called if the host of a credential can't be reached by TLS. Returns whether more certificates are trusted than before. */
  readonly trustMore?: ((host: string) => Promise<boolean>) | undefined
  /** Receives every use of a credential when it has ended. */
  readonly onUse?: ((use: CredentialUse) => void) | undefined
  /** Resolves host names in place of the system's resolver. */
  readonly resolve?: Resolve | undefined
}

/** The proxy for one command. */
type ProxySession = {
  /** Takes over a listening server and serves its connections. */
  attach(server: Server): void
  /**
   * Closes every connection, stops accepting new ones, and returns the denials of refused connections. Further calls only return the denials again.
   */
  end(): readonly Denial[]
}

/**
 * The proxy for the commands of one sandbox. Between commands it keeps no connection or server open. A session says whether a push that a credential
 * allows only moves branches forward. Default: it isn't known.
 */
type Proxy = { startSession(isFastForward?: BrokerOptions['isFastForward']): ProxySession }

const unknownHistory = async (): Promise<string> => 'its history is not known here'

/** The maximum number of simultaneous connections. No package manager makes that many, and the engine can have more descriptors open than that. */
const mostConnections = 256

/** How many milliseconds a connection may stay silent before its first request. */
const helloMs = 60_000

/** The maximum number of hosts to list as denials of one command. `onDecision` is still called for every refusal. */
const mostDenials = 20

/**
 * Creates a proxy that allows the hosts in `allow`, and the relays to `services`, and sends requests with `credentials`. All must already have been
 * checked, like those in a parsed policy, and the services must have addresses.
 */
export function createProxy(
  allow: readonly HostPatternInput[],
  options: NetworkOptions = {},
  services: readonly Service[] = [],
  given: readonly Credential[] = [],
): Proxy {
  const patterns = parsePatterns(allow)
  const credentials = readCredentials(given)
  const resolve = options.resolve ?? resolveAsSystem
  return {
    startSession: (isFastForward = unknownHistory) => {
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
      const gate = createGate({ patterns, resolve, forbids: options.forbids }, report, end.signal)
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
      const { forbids, secretOf, onUse, trustMore } = options
      const rules = { resolve, forbids, secretOf, onUse, trustMore, isFastForward }
      const broker = credentials.length === 0 ? undefined : createBroker(credentials, rules, report, keep, end.signal)
      const http = createHttpProxy(guarded, broker)
      const relays = relayServices(services, options, report, keep, end.signal)
      return {
        attach: (server) => {
          if (end.signal.aborted) {
            server.close()
            return
          }
          servers.add(server)
          server.maxConnections = mostConnections
          // A client may end its side of a tunnel and still wait for the answer. This option is usually set when a server is created, but this server
          // comes from another process.
          Object.assign(server, { allowHalfOpen: true })
          const serve = relays.at(server)
          server.on('connection', (socket) => {
            keep(socket)
            if (serve !== undefined) return serve(socket)
            distinguish(
              socket,
              () => http.emit('connection', socket),
              // A client that disconnects during its greeting needs no answer.
              () => void serveSocks(socket, guarded).catch(() => socket.destroy()),
            )
          })
        },
        end: () => {
          end.abort()
          relays.end()
          for (const server of servers) server.close()
          for (const socket of sockets) socket.destroy()
          return [...denials.values()]
        },
      }
    },
  }
}

/** Finds out whether a client speaks HTTP or SOCKS5: both share one port. No HTTP request begins with the first byte of SOCKS5. */
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
