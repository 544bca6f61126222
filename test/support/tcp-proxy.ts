import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy whose connections can be cut. */
export type TcpProxy = {
  readonly port: number
  /** How many connections were made to it. */
  readonly connections: () => number
  /** Closes all connections, and each new one at once. */
  readonly cut: () => void
  /** Stops forwarding data but leaves the connections open, so requests get no answer. */
  readonly halt: () => void
  readonly mend: () => void
}

/** Starts a proxy for a port of this machine. It is closed when the test ends. */
export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const open = new Set<Socket>()
  let state: 'open' | 'cut' | 'halted' = 'open'
  let connections = 0
  const server = createServer((near) => {
    connections++
    if (state === 'cut') {
      near.destroy()
      return
    }
    const far = connect(to, '127.0.0.1')
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (bytes: Buffer) => other.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        open.delete(from)
        other.destroy()
      })
      if (state === 'halted') from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    for (const socket of open) socket.destroy()
  }
  onTestFinished(() => {
    close()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    cut: () => {
      state = 'cut'
      close()
    },
    halt: () => {
      state = 'halted'
      for (const socket of open) socket.pause()
    },
    mend: () => {
      state = 'open'
      for (const socket of open) socket.resume()
    },
  }
}
