import process from 'node:process'
import * as z from 'zod'
import { exitCodes } from '../../core/exit-codes.ts'
import { readLines } from '../../core/text/read-lines.ts'
import { UserError } from '../../core/user-error.ts'
import { version } from '../../core/version.ts'
import { codeOf, holdSignals, type Interruption } from '../interrupts.ts'
import { onOutputClosed } from '../print.ts'
import { Peer, RpcError } from './peer.ts'
import type { Sessions } from './sessions.ts'

/** The longest line that a client may write, in bytes: several pictures fit in. */
const longestLine = 64 * 1024 * 1024

const Initialize = z.object({ protocolVersion: z.number(), clientInfo: z.object({ name: z.string() }).nullish() })

const key = "The provider's key, such as OPENAI_API_KEY, in the environment in which the agent is started."

/** What this program can do, in the only version of the protocol that it speaks. */
const abilities = {
  protocolVersion: 1,
  agentInfo: { name: 'portcullis', title: 'Portcullis', version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
  },
  authMethods: [{ id: 'environment', name: 'A key in the environment', description: key }],
}

/** `agent acp`: serves a client until its output ends, a signal arrives, or the client no longer reads. Returns the exit code. */
export async function runAcp(): Promise<number> {
  let opened: Promise<Sessions> | undefined
  let source = 'acp'
  // The code that runs agents is loaded only after the first answer, because an editor waits for that.
  const sessions = (): Promise<Sessions> =>
    (opened ??= import('./sessions.ts').then(({ Sessions }) => new Sessions(peer, source)))
  const peer = new Peer(async (method, params, id) => {
    if (method !== 'initialize') return (await sessions()).serve(method, params, id)
    const { data, error } = Initialize.safeParse(params)
    if (data === undefined) throw new RpcError('invalidParams', z.prettifyError(error))
    source = data.clientInfo?.name.slice(0, 100) ?? source
    setImmediate(() => void sessions())
    return abilities
  })
  const { stdin } = process
  let end: Interruption | undefined
  const stop = (reason: unknown): void => {
    end ??= reason as Interruption
    stdin.destroy()
  }
  const held = holdSignals('Interrupted. The program exits as soon as its runs have ended.')
  held.addEventListener('abort', () => stop(held.reason), { once: true })
  onOutputClosed(() => stop('terminated'))
  let working: Promise<unknown> = Promise.resolve()
  try {
    for await (const line of readLines(stdin, longestLine, 'Standard input')) {
      working = Promise.all([working, peer.receive(line).catch(stop)])
    }
  } catch (error) {
    // An input that was closed because of a signal or a lost client is no error of the client's.
    if (error instanceof UserError || !stdin.destroyed) stop(error)
  }
  peer.leave()
  await (await opened)?.close()
  await working
  if (end instanceof Error) throw end
  return end === undefined ? exitCodes.done : codeOf(end)
}
