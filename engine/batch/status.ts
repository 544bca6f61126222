import { dollars, seconds, short } from '../display/format-values.ts'
import type { Summary } from './derived/results.ts'

/** How far a batch is. `live` is what its supervisor wrote last, while there is one. */
export type Status = {
  readonly summary: Summary
  readonly supervised: boolean
  readonly live:
    | {
        readonly running: readonly { readonly trial: string; readonly what: string; readonly seconds: number }[]
        readonly paused: string | null
      }
    | undefined
}

const mostRows = 40

/** The same in lines for a person. */
export function statusLines({ summary, supervised, live }: Status): readonly string[] {
  const { settled, trials, answers, outcomes, cost_usd: cost, tokens, attempts } = summary
  const running = live?.running ?? []
  const rows = running
    .slice(0, mostRows)
    .map(({ trial, what, seconds: since }) => `  ${trial}: ${what} (${seconds(since * 1000)})`)
  const state = !supervised
    ? 'nobody runs it'
    : live?.paused == null
      ? `${running.length} running`
      : `paused: ${live.paused}`
  return [
    `${settled} of ${trials} settled, ${answers} with an answer; ${state}`,
    ...Object.entries(outcomes).map(([name, count]) => `  ${count} ${name}`),
    `${attempts} attempts, ${short(tokens.input + tokens.output)} tokens, ${dollars(cost)}`,
    ...(rows.length === 0 ? [] : ['running:', ...rows]),
    ...(running.length > mostRows ? [`  … and ${running.length - mostRows} more`] : []),
  ]
}
