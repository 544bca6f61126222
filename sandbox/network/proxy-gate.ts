import { lookup } from 'node:dns/promises'
import { connect, type Socket } from 'node:net'
import type { Denial } from '../sandbox.ts'
import {
  decideAddresses,
  decideHost,
  forbiddenHost,
  kindHere,
  refuseText,
  type NetworkDecision,
  type Route,
} from './decide-host.ts'
import { authority, hostAddress, parseAuthority, type Host } from './host.ts'
import type { HostPattern } from './host-pattern.ts'

/** Resolves a name to its addresses. Rejects if the name has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** The outcome of an attempt to connect. */
export type Opened =
  | { readonly status: 'open'; readonly socket: Socket; readonly authority: string }
  | { readonly status: 'refused'; readonly denial: Denial }
  /** The connection was allowed, but could not be made. */
  | { readonly status: 'failed'; readonly reason: string }

/**
 * Makes connections for a command, which has no other way out of the sandbox. The gate checks the requested host, resolves it, checks the host's
 * addresses, and connects only to these addresses.
 */
export type Gate = {
  open(target: string, via: Route, defaultPort?: number): Promise<Opened>
}

/** How many milliseconds the server may take to accept the connection. */
const connectMs = 30_000

/** Resolves names as the system does, which includes `/etc/hosts`. */
export const resolveAsSystem: Resolve = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address)

/** The rules by which a gate decides about connections. */
export type GateRules = {
  readonly patterns: readonly HostPattern[]
  readonly resolve: Resolve
  /** Returns why a host is forbidden although it is on the allow-list; undefined if it isn't forbidden. */
  readonly forbids: ((host: string, port: number, via: Route) => string | undefined) | undefined
}

/**
 * Creates a gate for one command; it works until `signal` is aborted. `report` receives every decision. A host that is refused by its name is
 * never resolved, because a DNS query could carry data to the name server of the host's domain.
 */
export function createGate(
  { patterns, resolve, forbids }: GateRules,
  report: (decision: NetworkDecision) => void,
  signal: AbortSignal,
): Gate {
  return {
    open: async (target, via, defaultPort) => {
      const refuse = (denial: Denial): Opened => {
        report({ via, verdict: 'refused', denial })
        return { status: 'refused', denial }
      }
      const wanted = parseAuthority(target, defaultPort)
      if (wanted.host === undefined) return refuse(refuseText(target, wanted.why))
      const { host, port } = wanted
      const decision = decideHost(patterns, host, port)
      if ('denial' in decision) return refuse(decision.denial)
      const forbidden = forbids?.(host.text, port, via)
      if (forbidden !== undefined) return refuse(forbiddenHost(host.text, port, forbidden))
      const found = await addressesOf(host, resolve)
      if (typeof found === 'string') return { status: 'failed', reason: `${host.text}: ${found}` }
      const judged = found.map((address) => ({ address, kind: kindHere(address) }))
      const denial = decideAddresses(decision.patterns, { host, port }, judged)
      if (denial !== undefined) return refuse(denial)
      report({ via, verdict: 'allowed', host: host.text, port, pattern: decision.patterns[0].text })
      const name = authority(host.text, port)
      const socket = await connectTo(found, port, signal)
      return socket instanceof Error
        ? { status: 'failed', reason: `${name}: ${codeOf(socket)}` }
        : { status: 'open', socket, authority: name }
    },
  }
}

/** The normalized addresses of a host, or the reason why there are none. */
export async function addressesOf(host: Host, resolve: Resolve): Promise<readonly string[] | string> {
  if (host.kind === 'address') return [host.text]
  try {
    const answers = (await resolve(host.text)).map(hostAddress)
    const addresses = answers.filter((address) => address !== undefined)
    return addresses.length > 0 && addresses.length === answers.length ? addresses : 'it has no usable address'
  } catch (error) {
    return error instanceof Error ? codeOf(error) : 'it cannot be resolved'
  }
}

/** Connects to one of these addresses, trying IPv4 and IPv6 alternately. The name is not resolved again. */
async function connectTo(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket | Error> {
  if (signal.aborted) return new Error('the command has ended')
  const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const socket = connect({
    // This name can't be resolved, so only the addresses below are used.
    host: 'checked.invalid',
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    signal,
    lookup: (_name, _options, done) => done(null, answers),
  })
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      socket.destroy()
      resolve(new Error('it did not answer in time'))
    }, connectMs)
    socket.once('error', (error) => {
      clearTimeout(timer)
      resolve(error)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
