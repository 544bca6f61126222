import { Agent, type RequestOptions } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { authority } from '../network/host.ts'
import type { Gate } from '../network/proxy-gate.ts'

/** The most connections to one host at a time. */
const mostSockets = 64

/**
 * Creates an agent whose connections go through a gate and use TLS. `keep` receives every socket.
 *
 * @param trustMore called if TLS fails; if it returns true, TLS is tried once more
 */
export function createTlsAgent(
  gate: Gate,
  keep: (socket: Socket) => void,
  trustMore: ((host: string) => Promise<boolean>) | undefined,
): Agent {
  const createConnection: NonNullable<RequestOptions['createConnection']> = (to, done) => {
    const [host, port] = [to.host ?? '', Number(to.port)]
    const open = async (): Promise<TLSSocket> => {
      const opened = await gate.open(authority(host, port), 'credential')
      if (opened.status !== 'open') throw new Error(opened.status === 'refused' ? opened.denial.rule : opened.reason)
      keep(opened.socket)
      return secured(opened.socket, host)
    }
    const again = async (error: Error): Promise<TLSSocket> => {
      if ((await trustMore?.(host)) === true) return open()
      throw error
    }
    void open()
      .catch(again)
      .then(
        (socket) => done(null, socket),
        (error: Error) => done(error, undefined as never),
      )
    return undefined
  }
  // An agent makes its connections itself, whatever a request says.
  return Object.assign(new Agent({ keepAlive: true, maxSockets: mostSockets }), { createConnection })
}

/** Begins TLS. Resolves when the certificate of the host has been accepted. */
async function secured(socket: Socket, host: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = connect({
      // No variable of the environment may switch the check of the certificate off.
      ...{ socket, host, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' as const },
      ...(isIP(host) === 0 ? { servername: host } : {}),
    })
    secure.once('error', reject)
    secure.once('secureConnect', () => resolve(secure))
  })
}
