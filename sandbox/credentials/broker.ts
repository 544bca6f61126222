import type { IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import { Transform, type Readable } from 'node:stream'
import { createTlsAgent } from './tls-agent.ts'
import type { NetworkDecision } from '../network/decide-host.ts'
import { authority, parseAuthority } from '../network/host.ts'
import { createGate, type GateRules } from '../network/proxy-gate.ts'
import { answerBack } from './answer-back.ts'
import { guardParts } from './form-names.ts'
import { insideAddressesOf, plainOf, type Origin, type ReadCredential } from './credential.ts'
import { headersOnward } from './headers.ts'
import { describeOperation, kindOfRequest } from './judge-request.ts'
import { maskValue, type ValueMask } from './mask-value.ts'
import { refusedPush } from './push-commands.ts'
import { readContent, type FastForward } from './read-content.ts'
import { normalizeTarget } from './request-target.ts'

/** A use of a credential: a request that was sent with it, and has been answered or has failed. */
export type CredentialUse = {
  readonly credential: string
  readonly host: string
  /** What the request did, as a row of `allow` says it. */
  readonly operation: string
  /** The status of the answer; undefined if there was none. */
  readonly status: number | undefined
  /** The bytes of the bodies. */
  readonly sent: number
  readonly received: number
  readonly durationMs: number
}

/** What a broker needs besides the credentials. */
export type BrokerOptions = Pick<GateRules, 'resolve' | 'forbids'> & {
  /** Returns the value of a credential; undefined if it has none. */
  readonly secretOf: ((name: string) => string | undefined) | undefined
  readonly onUse: ((use: CredentialUse) => void) | undefined
  readonly isFastForward: FastForward
  /** Called if a host can't be reached by TLS. Returns whether more certificates are trusted than before. */
  readonly trustMore: ((host: string) => Promise<boolean>) | undefined
}

/** Sends a command's requests with credentials. */
export type Broker = {
  /** Whether a request for this authority (as in `http://AUTHORITY/`) is the broker's. */
  covers(target: string): boolean
  forward(target: string, path: string, message: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Creates the broker of one command; it works until `signal` is aborted. `report` receives every decision, and `keep` every socket. */
export function createBroker(
  credentials: readonly ReadCredential[],
  options: BrokerOptions,
  report: (decision: NetworkDecision) => void,
  keep: (socket: Socket) => void,
  signal: AbortSignal,
): Broker {
  const places = new Map(
    credentials.flatMap((credential) =>
      credential.hosts.flatMap((origin) =>
        insideAddressesOf(origin).map((address) => [address, { credential, origin }] as const),
      ),
    ),
  )
  // Credentials have a gate of their own, so that they open no tunnel to their hosts.
  const patterns = credentials.flatMap(({ name, hosts }) =>
    hosts.map(({ host, port }) => ({
      ...{ text: `credentials.${name}`, below: false, ports: [port], allowPrivate: true },
      host: { kind: isIP(host) === 0 ? ('name' as const) : ('address' as const), text: host },
    })),
  )
  const gate = createGate({ patterns, resolve: options.resolve, forbids: options.forbids }, report, signal)
  const masks = new Map<string, ValueMask>()
  const agent = createTlsAgent(gate, keep, options.trustMore)
  signal.addEventListener('abort', () => agent.destroy(), { once: true })

  const placeOf = (target: string): { credential: ReadCredential; origin: Origin } | undefined => {
    const { host, ...rest } = parseAuthority(target, 443)
    if (host === undefined || !('port' in rest)) return undefined
    // A client may name the port of http, which it means without saying.
    const port = rest.port === 80 ? 443 : rest.port
    return places.get(plainOf({ host: host.text, port }))
  }

  return {
    covers: (target) => placeOf(target) !== undefined,
    forward: async (target, rawPath, message, response) => {
      const place = placeOf(target)
      if (place === undefined) return
      const { credential, origin } = place
      const method = message.method ?? ''
      const named = origin.port === 443 ? origin.host : authority(origin.host, origin.port)
      const refuse = (rule: string, code = 403): void => {
        const advice = `add a row for it to credentials.${credential.name}.allow in your own configuration, if it should be allowed`
        const denial = {
          ...{
            kind: 'host' as const,
            subject: `${named}: ${method} ${shown(rawPath)}`,
            rule,
            certainty: 'proven' as const,
          },
          remedy: { kind: 'otherwise' as const, advice },
        }
        report({ via: 'credential', verdict: 'refused', denial })
        respond(response, code, `${rule}. To allow it: ${advice}.`)
      }
      const path = normalizeTarget(rawPath)
      if ('why' in path) return refuse(`credentials.${credential.name}: ${path.why}`)
      const kind = kindOfRequest(method, named, path)
      if ('why' in kind) return refuse(`credentials.${credential.name}: ${kind.why}`)
      const content = await readContent(credential, kind, path, message, options.isFastForward)
      if (response.destroyed) return
      if (content.verdict === 'refused') {
        if (content.push === undefined) return refuse(content.rule)
        report({
          via: 'credential',
          verdict: 'refused',
          denial: denialOfPush(
            `${named}: git push ${content.push.commands.map(({ ref }) => ref).join(' ')}`,
            content.rule,
          ),
        })
        const { push, rule } = content
        const tell = (): void => {
          const type = 'application/x-git-receive-pack-result'
          response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(refusedPush(push, rule))
        }
        // Git reads the answer only when it has sent everything.
        if (message.readableEnded) tell()
        else message.resume().once('end', tell)
        return
      }
      const value = options.secretOf?.(credential.name)
      if (value === undefined) return refuse(`credentials.${credential.name}: it has no value`, 502)
      const began = performance.now()
      const isGit = kind.kind === 'push' || (kind.kind === 'operation' && kind.isGit)
      const headers = headersOnward(endToEnd(message), credential, value, { isGit, host: named })
      const sent = `${headers[credential.as === 'header' ? (credential.header ?? '').toLowerCase() : 'authorization']}`
      const mask = masks.get(credential.name) ?? maskValue(value, sent.replace(/^\S+ /, ''))
      masks.set(credential.name, mask)
      const counts = { sent: 0, received: 0 }
      let status: number | undefined
      response.once('close', () => {
        onward.destroy()
        const durationMs = Math.round(performance.now() - began)
        const operation = content.operations.map(describeOperation).join(', ')
        options.onUse?.({ credential: credential.name, host: named, operation, status, ...counts, durationMs })
      })
      const onward = request({
        ...{ agent, host: origin.host, port: origin.port, method, path: `${path.path}${path.query}`, setHost: false },
        headers: { ...headers, ...content.framing },
      })
      onward.on('error', (error) => {
        if (response.headersSent) response.destroy()
        else respond(response, 502, `${named} could not be asked: ${mask.text(error.message)}`)
      })
      onward.on('response', (answer) => {
        status = answer.statusCode
        answerBack(answer, response, endToEnd(answer), { origin, mask, counts })
      })
      const stopped = send(content, message, onward, counts)
      stopped?.once('error', (error) => {
        refuse(`credentials.${credential.name}: ${error.message}`)
        onward.destroy()
      })
    },
  }
}

function denialOfPush(subject: string, rule: string) {
  const remedy = {
    kind: 'otherwise' as const,
    advice: 'push a new commit on top of a branch that a row of allow names',
  }
  return { kind: 'host' as const, subject, rule, certainty: 'proven' as const, remedy }
}

/** Sends a body whose first bytes have already been read. Returns the stream that fails if the rest is not allowed. */
function send(
  { first, isForm }: { readonly first: Buffer | undefined; readonly isForm: boolean },
  rest: Readable,
  onward: NodeJS.WritableStream,
  counts: { sent: number },
): Transform | undefined {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      counts.sent += chunk.length
      done(null, chunk)
    },
  })
  counted.pipe(onward)
  if (isForm) {
    const guard = guardParts()
    rest.pipe(guard).pipe(counted)
    return guard
  }
  if (first !== undefined && first.length > 0) counted.write(first)
  if (rest.readableEnded) counted.end()
  else rest.pipe(counted)
  return undefined
}

/** The headers of a message as they are judged, each once, without those for one connection. */
function endToEnd({ headers }: IncomingMessage): Record<string, string> {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) =>
      typeof text !== 'string' || oneConnection.has(name) || named.includes(name) ? [] : [[name, text] as const],
    ),
  )
}

const oneConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'expect', 'content-length', 'host'],
])

function respond(response: ServerResponse, code: number, sentence: string): void {
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${sentence}\n`)
}

function shown(text: string): string {
  return (
    text
      .split('?')[0]
      ?.slice(0, 200)
      .replace(/[^ -~]/g, '?') ?? ''
  )
}
