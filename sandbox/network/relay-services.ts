import type { Server, Socket } from 'node:net'
import type { NetworkDecision } from './decide-host.ts'
import { authority, parseHost } from './host.ts'
import type { HostPattern } from './host-pattern.ts'
import { createGate, type GateRules } from './proxy-gate.ts'
import { writeService, type Service } from './service.ts'
import { joinSockets } from './tunnel.ts'

/** A connection of a command to a service. It is reported when it has ended. */
export type ServiceConnection = Pick<Service, 'name' | 'host' | 'port'> & {
  /** How many bytes the command sent to the service, and how many it received. */
  readonly sent: number
  readonly received: number
  readonly durationMs: number
  /** Why there was no connection; undefined if there was one. */
  readonly failure?: string | undefined
}

type RelayOptions = Partial<Pick<GateRules, 'forbids'>> & {
  readonly onConnection?: ((connection: ServiceConnection) => void) | undefined
  readonly onOpenConnection?: ((read: () => ServiceConnection) => () => void) | undefined
}

/** The relays of one command. */
type ServiceRelays = {
  /** Returns what serves the connections of a listening socket; undefined if its port is not that of a service. */
  at(server: Server): ((socket: Socket) => void) | undefined
  /** Reports the connections that are still open. Whoever calls this also closes them. */
  end(): void
}

/**
 * Creates the relays for one command. They pass on bytes without reading them, and work until `signal` is aborted. Rules that forbid a host apply to
 * services too. `report` receives every decision, and `keep` every socket.
 */
export function relayServices(
  services: readonly Service[],
  { forbids, onConnection, onOpenConnection }: RelayOptions,
  report: (decision: NetworkDecision) => void,
  keep: (socket: Socket) => void,
  signal: AbortSignal,
): ServiceRelays {
  const byPort = new Map(services.map((service) => [service.port, service]))
  // Services have a gate of their own, so that the proxy doesn't connect to their hosts.
  const patterns = services.flatMap(patternOf)
  const resolve = async (name: string) => services.find(({ host }) => host === name)?.addresses ?? []
  const gate = createGate({ patterns, resolve, forbids }, report, signal)
  const open = new Set<() => void>()

  const serve = async (service: Service, near: Socket): Promise<void> => {
    const began = performance.now()
    const { addresses: _, ...named } = service
    let far: Socket | undefined
    let failure: string | undefined
    const facts = (): ServiceConnection => ({
      ...named,
      sent: far?.bytesWritten ?? 0,
      received: far?.bytesRead ?? 0,
      durationMs: Math.round(performance.now() - began),
      failure,
    })
    let closed: (() => void) | undefined
    const end = (): void => {
      if (!open.delete(end)) return
      closed?.()
      onConnection?.(facts())
    }
    open.add(end)
    closed = onOpenConnection?.(facts)
    const opened = await gate.open(authority(service.host, service.port), 'service')
    if (opened.status === 'open') {
      far = opened.socket
      keep(far)
      far.once('close', end)
      joinSockets(near, far)
      if (near.destroyed) far.destroy()
    } else {
      failure = opened.status === 'refused' ? opened.denial.rule : opened.reason
      // The client sees that its connection was reset. A plain end would look like a service that has nothing to say.
      near.resetAndDestroy()
      end()
    }
  }

  return {
    at: (server) => {
      const address = server.address()
      const service = address !== null && typeof address === 'object' ? byPort.get(address.port) : undefined
      return service && ((socket) => void serve(service, socket))
    },
    end: () => {
      for (const end of open) end()
    },
  }
}

function patternOf(service: Service): readonly HostPattern[] {
  const { host } = parseHost(service.host)
  if (host === undefined) return []
  // The user has named this host, which usually is in a private network.
  return [{ text: writeService(service), host, below: false, ports: [service.port], allowPrivate: true }]
}
