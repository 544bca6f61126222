import type { Attributes } from './otlp.ts'

/** The `[otel]` table of the user's configuration. */
type TelemetrySettings = {
  readonly endpoint?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly file?: string | undefined
  readonly content?: boolean | undefined
}

/** Where one kind of telemetry is sent, and the headers of the requests. The address contains no password; passwords are in the headers. */
export type Target = { readonly url: URL; readonly headers: Readonly<Record<string, string>> }

/** The span that the run belongs to, in the terms of W3C Trace Context. */
type TraceParent = {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  readonly state: string | undefined
}

/** What telemetry reports, and where it is sent. */
export type TelemetryOptions = {
  readonly traces: Target | undefined
  readonly metrics: Target | undefined
  /** The absolute path of a file to which all reported data is written, as lines of JSON. */
  readonly file: string | undefined
  /** Whether prompts, answers, commands and their output are reported too. */
  readonly content: boolean
  readonly resource: Attributes
  /** The maximum number of characters in one reported value. */
  readonly valueLimit: number
  readonly parent: TraceParent | undefined
  /** Sentences about settings that can't be applied. They contain no address, because an address may contain a password. */
  readonly notices: readonly string[]
}

type Environment = Readonly<NodeJS.ProcessEnv>

/**
 * Reads the settings from OpenTelemetry's environment variables and from the `[otel]` table of the user's configuration
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). A variable overrides the table. Returns undefined if nothing is to be reported, so
 * that no telemetry code needs to be loaded.
 */
export function telemetryOptions(
  environment: Environment,
  settings: TelemetrySettings = {},
): TelemetryOptions | undefined {
  const said = (name: string): string | undefined => environment[name]?.trim() || undefined
  if (said('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const isWanted = ['', 'TRACES_', 'METRICS_'].some((kind) => said(`OTEL_EXPORTER_OTLP_${kind}ENDPOINT`) !== undefined)
  if (!isWanted && settings.endpoint === undefined && settings.file === undefined) return undefined
  const notices: string[] = []
  const target = (kind: 'TRACES' | 'METRICS'): Target | undefined => {
    if (said(`OTEL_${kind}_EXPORTER`) === 'none') return undefined
    const own = `OTEL_EXPORTER_OTLP_${kind}_`
    const name = said(`${own}ENDPOINT`) === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `${own}ENDPOINT`
    const address = said(name) ?? settings.endpoint
    if (address === undefined) return undefined
    const url = addressOf(address)
    if (url === undefined) {
      notices.push(
        `${said(name) === undefined ? 'otel.endpoint' : name} is not an http or https address, so no ${kind.toLowerCase()} are sent.`,
      )
      return undefined
    }
    if (name !== `${own}ENDPOINT`) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${kind.toLowerCase()}`
    const headers = {
      ...(url.username === '' ? {} : { authorization: basic(url) }),
      ...(said(name) === undefined || isSameOrigin(settings.endpoint, url) ? settings.headers : {}),
      ...pairs(said('OTEL_EXPORTER_OTLP_HEADERS')),
      ...pairs(said(`${own}HEADERS`)),
    }
    url.username = ''
    url.password = ''
    return { url, headers }
  }
  const traces = target('TRACES')
  const metrics = target('METRICS')
  const protocol = said('OTEL_EXPORTER_OTLP_PROTOCOL')
  if (protocol !== undefined && protocol !== 'http/json' && (traces ?? metrics) !== undefined) {
    notices.push(
      'OTEL_EXPORTER_OTLP_PROTOCOL names a different protocol, but telemetry is sent as http/json, the only supported one.',
    )
  }
  const capture = said('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT')
  const limit = Number(said('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT') ?? said('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'))
  return {
    traces,
    metrics,
    file: settings.file,
    content: capture === undefined ? settings.content === true : /^(?:true|span_only|span_and_event)$/i.test(capture),
    resource: { ...pairs(said('OTEL_RESOURCE_ATTRIBUTES')), 'service.name': said('OTEL_SERVICE_NAME') ?? 'portcullis' },
    valueLimit: Number.isSafeInteger(limit) && limit > 0 ? Math.min(limit, mostCharacters) : mostCharacters,
    parent: parentOf(said('TRACEPARENT'), said('TRACESTATE')),
    notices: [...new Set(notices)],
  }
}

/**
 * The maximum length of one text in a span. It is limited because many spans are sent in one request. The session's own files contain longer texts in
 * full.
 */
const mostCharacters = 8192

function addressOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined
}

function basic({ username, password }: URL): string {
  const words = `${unescaped(username)}:${unescaped(password)}`
  return `Basic ${Buffer.from(words).toString('base64')}`
}

/**
 * Whether two addresses have the same origin. The headers from the `[otel]` table are sent only to its own endpoint's origin, because another server
 * must not receive a key.
 */
function isSameOrigin(endpoint: string | undefined, url: URL): boolean {
  return endpoint !== undefined && addressOf(endpoint)?.origin === url.origin
}

/** Parses `name=value,name=value`, percent-encoded as in W3C Baggage. Pairs that aren't valid headers are left out. */
function pairs(text: string | undefined): Readonly<Record<string, string>> {
  const list = (text ?? '').split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(at, 0)).trim()
    const value = unescaped(pair.slice(at + 1).trim())
    return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[^\t\x20-\x7e\x80-\xff]/.test(value) ? [[name, value]] : []
  })
  return Object.fromEntries(list)
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Parses `TRACEPARENT` (https://www.w3.org/TR/trace-context/#traceparent-header). Returns undefined if it is invalid. */
function parentOf(text: string | undefined, state: string | undefined): TraceParent | undefined {
  const match = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(
    text ?? '',
  )
  const [, traceId, spanId, flags] = match ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const isState = state !== undefined && state.length <= 512 && /^[\x20-\x7e]+$/.test(state)
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state: isState ? state : undefined }
}
