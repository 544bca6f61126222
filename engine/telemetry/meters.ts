import type { RunEvent } from '../core/events.ts'
import type { Attributes, Metric } from './otlp.ts'

/** The bucket bounds that the conventions recommend for tokens and seconds (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/). */
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

const instruments = {
  'gen_ai.client.token.usage': { unit: '{token}', bounds: tokenBounds },
  'gen_ai.client.operation.duration': { unit: 's', bounds: secondBounds },
  'gen_ai.execute_tool.duration': { unit: 's', bounds: secondBounds },
  'portcullis.run.duration': { unit: 's', bounds: secondBounds },
  'portcullis.run.cost': { unit: 'USD' },
  'portcullis.run.denials': { unit: '{denial}' },
  'portcullis.guardian.decisions': { unit: '{decision}' },
} as const

type Name = keyof typeof instruments

/** Collects the metrics of a run. */
export class Meters {
  readonly #points = new Map<Name, Map<string, { readonly attributes: Attributes; readonly values: number[] }>>()

  add(name: Name, value: number, attributes: Attributes): void {
    const points = this.#points.get(name) ?? new Map()
    this.#points.set(name, points)
    const key = JSON.stringify(attributes)
    // Limits the number of series of an instrument: models can make up tool names, so there could be any number of them.
    const at = points.has(key) || points.size < 200 ? key : 'others'
    const point = points.get(at) ?? {
      attributes: at === key ? attributes : { 'otel.metric.overflow': true },
      values: [],
    }
    points.set(at, point)
    point.values.push(value)
  }

  /** Records the tokens of one answer, under the metric name that dashboards expect. */
  tokens(input: number, output: number, attributes: Attributes): void {
    this.add('gen_ai.client.token.usage', input, { ...attributes, 'gen_ai.token.type': 'input' })
    this.add('gen_ai.client.token.usage', output, { ...attributes, 'gen_ai.token.type': 'output' })
  }

  /** Records the data of a run's last event. */
  ended(event: Extract<RunEvent, { readonly type: 'turn.completed' | 'turn.failed' }>): void {
    this.add('portcullis.run.duration', event.duration_ms / 1000, { 'portcullis.result': event.result })
    if (event.cost_usd !== undefined) this.add('portcullis.run.cost', event.cost_usd, {})
    this.add('portcullis.run.denials', event.denied, {})
  }

  /** Returns all recorded metrics. */
  metrics(): readonly Metric[] {
    return [...this.#points].map(([name, points]) => ({ name, ...instruments[name], points: [...points.values()] }))
  }
}
