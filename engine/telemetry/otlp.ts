import { escapeInvisible } from '../core/text/escape-invisible.ts'

/**
 * OTLP as JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hex, 64-bit numbers as decimal strings, enums as numbers.
 * Written by hand, because the official SDK takes 45 ms of processor time at the start of every run with telemetry.
 */

/** The value of an attribute. Undefined attributes are left out. */
type AttributeValue = string | number | boolean | readonly string[] | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>

/** An operation with a start and an end, in nanoseconds since 1970. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly traceState?: string | undefined
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Attributes
  /** Set if the operation failed, with the error message if there is one. */
  readonly failed?: { readonly message?: string | undefined }
}

/** A metric: a histogram or a sum, with one data point for each set of attributes. */
export type Metric = {
  readonly name: string
  readonly unit: string
  readonly points: readonly { readonly attributes: Attributes; readonly values: readonly number[] }[]
  /** The bounds of a histogram's buckets. Absent: the metric is a sum. */
  readonly bounds?: readonly number[]
}

const kinds = { internal: 1, client: 3 } as const
const cumulative = 2
const errorStatus = 2

/** The body of a request that exports spans (`ExportTraceServiceRequest`). */
export function tracesBody(resource: Attributes, version: string, spans: readonly Span[], limit: number): object {
  const scope = { name: 'portcullis', version }
  const list = spans.map((span) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    ...(span.traceState === undefined ? {} : { traceState: span.traceState }),
    name: clean(span.name, 200),
    kind: kinds[span.kind],
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end < span.start ? span.start : span.end),
    attributes: attributesOf(span.attributes, limit),
    status: span.failed === undefined ? {} : { code: errorStatus, ...messageOf(span.failed.message, limit) },
  }))
  return { resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope, spans: list }] }] }
}

/** The body of a request that exports the metrics recorded between two times (`ExportMetricsServiceRequest`). */
export function metricsBody(
  resource: Attributes,
  version: string,
  metrics: readonly Metric[],
  [start, end]: readonly [bigint, bigint],
): object {
  const times = { startTimeUnixNano: String(start), timeUnixNano: String(end) }
  const list = metrics.map(({ name, unit, points, bounds }) => {
    const dataPoints = points.map(({ attributes, values }) => {
      const common = { attributes: attributesOf(attributes, 200), ...times }
      const sum = values.reduce((total, value) => total + value, 0)
      if (bounds === undefined)
        return { ...common, ...(Number.isInteger(sum) ? { asInt: String(sum) } : { asDouble: sum }) }
      return {
        ...common,
        count: String(values.length),
        sum,
        min: Math.min(...values),
        max: Math.max(...values),
        explicitBounds: [...bounds],
        bucketCounts: bucketsOf(values, bounds),
      }
    })
    const data = { dataPoints, aggregationTemporality: cumulative }
    return { name, unit, ...(bounds === undefined ? { sum: { ...data, isMonotonic: true } } : { histogram: data }) }
  })
  const scopeMetrics = [{ scope: { name: 'portcullis', version }, metrics: list }]
  return { resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics }] }
}

function bucketsOf(values: readonly number[], bounds: readonly number[]): readonly string[] {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  for (const value of values) {
    const at = bounds.findIndex((bound) => value <= bound)
    const bucket = at === -1 ? bounds.length : at
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts.map(String)
}

function messageOf(message: string | undefined, limit: number): object {
  return message === undefined ? {} : { message: clean(message, limit) }
}

function resourceOf(attributes: Attributes): object {
  return { attributes: attributesOf(attributes, 500) }
}

function attributesOf(attributes: Attributes, limit: number): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key: clean(key, 200), value: valueOf(value, limit) }],
  )
}

function valueOf(value: Exclude<AttributeValue, undefined>, limit: number): object {
  if (typeof value === 'string') return { stringValue: clean(value, limit) }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map((one) => valueOf(one, limit)) } }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Makes untrusted text safe: escapes control characters, replaces unpaired surrogates, and limits the length. */
function clean(text: string, limit: number): string {
  return shown(text.slice(0, limit)).slice(0, limit)
}

/** Escapes the invisible characters of untrusted text. Needed for text inside JSON, where `sanitizeOutput` wouldn't find them. */
export function shown(text: string): string {
  return escapeInvisible(text.toWellFormed())
}
