import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import * as z from 'zod'

const attribute: z.ZodType = z.strictObject({
  key: z.string().min(1),
  value: z.lazy(() => value),
})
const decimal = z.string().regex(/^-?\d+$/)
const nanoseconds = z.string().regex(/^1\d{18}$/)
const value: z.ZodType = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: decimal }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.lazy(() => value)) }) }),
])
const attributes = z.array(attribute)
const resource = z.strictObject({ attributes })
const scope = z.strictObject({ name: z.string(), version: z.string() })

const span = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  traceState: z.string().optional(),
  name: z.string().min(1),
  kind: z.union([1, 2, 3, 4, 5].map((kind) => z.literal(kind))),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  status: z.strictObject({
    code: z.union([z.literal(0), z.literal(1), z.literal(2)]).optional(),
    message: z.string().optional(),
  }),
})

/** A schema of the request that opentelemetry-proto defines in `trace_service.proto`, in its JSON encoding. */
const Traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span).min(1) })) }),
  ),
})

const point = { attributes, startTimeUnixNano: nanoseconds, timeUnixNano: nanoseconds }
const number = z.union([
  z.strictObject({ ...point, asInt: decimal }),
  z.strictObject({ ...point, asDouble: z.number() }),
])
const histogram = z
  .strictObject({
    ...point,
    count: decimal,
    sum: z.number(),
    min: z.number(),
    max: z.number(),
    bucketCounts: z.array(decimal),
    explicitBounds: z.array(z.number()),
  })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1)
  .refine(({ bucketCounts, count }) => bucketCounts.reduce((sum, one) => sum + Number(one), 0) === Number(count))
const named = { name: z.string().min(1), unit: z.string() }
const temporality = { aggregationTemporality: z.union([z.literal(1), z.literal(2)]) }
const metric = z.union([
  z.strictObject({
    ...named,
    sum: z.strictObject({ dataPoints: z.array(number).min(1), isMonotonic: z.boolean(), ...temporality }),
  }),
  z.strictObject({
    ...named,
    histogram: z.strictObject({ dataPoints: z.array(histogram).min(1), ...temporality }),
  }),
])

/** A schema of the request that opentelemetry-proto defines in `metrics_service.proto`, in its JSON encoding. */
const Metrics = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric).min(1) })) }),
  ),
})

/** A span in the form that tests use, with its attributes as an object. */
export type SeenSpan = Omit<z.infer<typeof span>, 'attributes'> & {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

/** A point of a metric in the form that tests use, with its attributes as an object. `value` is the sum. */
export type SeenPoint = {
  readonly metric: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly value: number
}

/** The spans in a request body. Throws if the body violates the format. */
export function spansIn(body: string): readonly SeenSpan[] {
  return Traces.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((one) => ({ ...one, attributes: flat(one.attributes), resource: flat(resource.attributes) })),
    ),
  )
}

/** The points of all metrics in a request body. Throws if the body violates the format. */
export function pointsIn(body: string): readonly SeenPoint[] {
  return Metrics.parse(JSON.parse(body)).resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap((one): SeenPoint[] =>
        'sum' in one
          ? one.sum.dataPoints.map((point) => ({
              metric: one.name,
              attributes: flat(point.attributes),
              value: 'asInt' in point ? Number(point.asInt) : point.asDouble,
            }))
          : one.histogram.dataPoints.map((point) => ({
              metric: one.name,
              attributes: flat(point.attributes),
              value: point.sum,
            })),
      ),
    ),
  )
}

function flat(list: unknown): Readonly<Record<string, unknown>> {
  const entries = list as readonly { key: string; value: Readonly<Record<string, unknown>> }[]
  const one = (value: Readonly<Record<string, unknown>>): unknown => {
    const [[kind, inner] = ['', undefined]] = Object.entries(value)
    if (kind === 'arrayValue') return (inner as { values: Readonly<Record<string, unknown>>[] }).values.map(one)
    return kind === 'intValue' ? Number(inner) : inner
  }
  return Object.fromEntries(entries.map(({ key, value }) => [key, one(value)]))
}

/** A telemetry collector on loopback, which strictly validates everything that it receives. */
export type Collector = {
  readonly url: string
  readonly spans: readonly SeenSpan[]
  readonly points: readonly SeenPoint[]
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[]
  /** The problems that were found in the received data. */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

/** Starts a collector. `answer` says how it responds to requests. By default, it responds correctly. */
export async function startCollector(
  answer: 'well' | 'never' | 'refusing' | 'redirecting' = 'well',
): Promise<Collector> {
  const spans: SeenSpan[] = []
  const points: SeenPoint[] = []
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = []
  const complaints: string[] = []
  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const path = request.url ?? ''
        requests.push({ path, headers: request.headers, body })
        try {
          if (request.method !== 'POST') throw new Error(`a ${request.method ?? ''}`)
          if (request.headers['content-type'] !== 'application/json') throw new Error('not JSON')
          if (path.endsWith('/v1/traces')) spans.push(...spansIn(body))
          else if (path.endsWith('/v1/metrics')) points.push(...pointsIn(body))
          else throw new Error(`no such path: ${path}`)
        } catch (error) {
          complaints.push((error as Error).message)
        }
        if (answer === 'never') return
        if (answer === 'redirecting') response.setHeader('location', '/elsewhere/v1/traces')
        response.statusCode = answer === 'well' ? 200 : answer === 'refusing' ? 503 : 307
        response.end('{}')
      },
      () => undefined,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    points,
    requests,
    complaints,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
