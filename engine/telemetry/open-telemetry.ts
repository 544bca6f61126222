import type { Model, ModelEvent } from '../core/model.ts'
import type { Sink } from '../core/events.ts'
import { version } from '../core/version.ts'
import { now } from './clock.ts'
import { Exporter } from './exporter.ts'
import type { Target, TelemetryOptions } from './telemetry-options.ts'
import { metricsBody, tracesBody, type Span } from './otlp.ts'
import { RunTrace } from './run-trace.ts'

/** The longest time that a run waits for collectors when it ends, in milliseconds. */
const lastFlushMs = 2000
const mostInBatch = 256
const batchEveryMs = 5000

/** What telemetry needs from the run that opens it. */
export type TelemetryDependencies = {
  /** Removes secrets from a text. */
  readonly mask: (text: string) => string
  /** Writes a text to the file that the options name. Throws if that fails. */
  readonly writeFile: (text: string) => void
  /** The engine's own environment. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
}

/** The telemetry of one run. */
export type Telemetry = {
  readonly sink: Sink
  /** Wraps a model's `respond`, so that its answers are recorded. */
  readonly wrapRespond: (name: () => string, respond: Model['respond']) => Model['respond']
  /** The environment variables that pass the trace on to commands: `TRACEPARENT`, and `TRACESTATE` if there is one. */
  readonly variables: Readonly<Record<string, string>>
  /**
   * Sends the remaining data within 2 s. Data that hasn't been sent by then is lost. Never throws.
   *
   * @returns sentences about what could not be delivered
   */
  close(): Promise<readonly string[]>
}

/** Starts the telemetry of a run. Nothing that a collector does can affect the run. */
export function openTelemetry(
  options: TelemetryOptions,
  { mask, writeFile, environment }: TelemetryDependencies,
): Telemetry {
  const exporterOf = (target: Target | undefined): Exporter | undefined =>
    target === undefined ? undefined : new Exporter(target, environment)
  const traces = exporterOf(options.traces)
  const metrics = exporterOf(options.metrics)
  const lines: string[] = []
  const isSampled = options.parent?.sampled !== false
  let batch: Span[] = []
  const tell = (exporter: Exporter | undefined, body: object): void => {
    exporter?.post(body)
    if (options.file !== undefined) lines.push(JSON.stringify(body))
  }
  const flush = (): void => {
    if (batch.length === 0) return
    const spans = batch
    batch = []
    tell(traces, tracesBody(options.resource, version, spans, options.valueLimit))
  }
  const trace = new RunTrace(options, (span) => {
    if (!isSampled) return
    batch.push(withoutSecrets(span, mask))
    if (batch.length >= mostInBatch) flush()
  })
  const ticking = setInterval(flush, batchEveryMs)
  ticking.unref()
  const { state } = options.parent ?? {}
  return {
    sink: trace.sink,
    wrapRespond: (name, respond) =>
      async function* watched(request, signal): AsyncIterable<ModelEvent> {
        const chat = trace.chat(name(), request)
        try {
          for await (const event of respond(request, signal)) {
            chat.see(event)
            yield event
          }
        } catch (error) {
          chat.fail(error)
          throw error
        } finally {
          chat.end()
        }
      },
    variables: {
      TRACEPARENT: `00-${trace.traceId}-${trace.spanId}-${isSampled ? '01' : '00'}`,
      ...(state === undefined ? {} : { TRACESTATE: state }),
    },
    close: async () => {
      clearInterval(ticking)
      flush()
      const counted = trace.metrics.map((metric) => withoutSecrets(metric, mask))
      if (counted.length > 0) {
        tell(metrics, metricsBody(options.resource, version, counted, [trace.startedAt, now()]))
      }
      await Promise.all([traces, metrics].map((exporter) => exporter?.close(lastFlushMs)))
      const failures = [traces, metrics].flatMap((exporter) => exporter?.failure ?? [])
      const problem = options.file === undefined ? undefined : writing(() => writeFile(`${lines.join('\n')}\n`))
      return [
        ...[...new Set(failures)].map((why) => `telemetry was not delivered to ${why}.`),
        ...(problem === undefined ? [] : [`telemetry could not be written to ${options.file ?? ''}: ${problem}.`]),
      ]
    },
  }
}

function writing(write: () => void): string | undefined {
  try {
    write()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Masks the secrets in all texts of a value. This happens before texts are shortened, because half a secret isn't recognized as one. Ids and
 * constants are not masked: this program creates them, and the digits of an id may look like a secret.
 */
function withoutSecrets<T>(value: T, mask: (text: string) => string): T {
  return map(value) as T

  function map(inner: unknown): unknown {
    if (typeof inner === 'string') return mask(inner)
    if (Array.isArray(inner)) return inner.map(map)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, ids.has(key) ? one : map(one)]))
  }
}

const ids: ReadonlySet<string> = new Set([
  ...['traceId', 'spanId', 'parentSpanId', 'kind', 'unit', 'gen_ai.conversation.id', 'portcullis.audit_head'],
])
