import { dollars, seconds, short } from '../display/format-values.ts'
import type { Summary } from './derived/results.ts'
import { counted } from '../core/text/counted.ts'

/** The progress of a batch. `live` is the last state that its supervisor wrote; undefined if no process supervises the batch. */
export type Status = {
  readonly summary: Summary
  readonly supervised: boolean
  readonly live:
    | {
        readonly running: readonly { readonly trial: string; readonly what: string; readonly seconds: number }[]
        readonly paused: string | null
        /**
         * The sets of labels that open runs need but no worker has. An empty set stands for runs that need no labels, and is listed if there is no
         * worker at all.
         */
        readonly unserved?: readonly { readonly labels: readonly string[]; readonly runs: number }[]
      }
    | undefined
}

const mostRows = 40

/** Formats the status of a batch as human-readable lines. */
export function statusLines({ summary, supervised, live }: Status): readonly string[] {
  const { settled, trials, answers, outcomes, cost_usd: cost, tokens, attempts } = summary
  const running = live?.running ?? []
  const rows = running
    .slice(0, mostRows)
    .map(({ trial, what, seconds: since }) => `  ${trial}: ${what} (${seconds(since * 1000)})`)
  const state = !supervised
    ? 'no process is running the batch'
    : live?.paused == null
      ? `${running.length} running`
      : `paused: ${live.paused}`
  return [
    `${settled} of ${trials} settled, ${answers} with an answer; ${state}`,
    ...Object.entries(outcomes).map(([name, count]) => `  ${count} ${name}`),
    `${counted(attempts, 'attempt')}, ${short(tokens.input + tokens.output)} tokens, ${dollars(cost)}`,
    ...(live?.unserved ?? []).map(unservedLine),
    ...(rows.length === 0 ? [] : ['running:', ...rows]),
    ...(running.length > mostRows ? [`  … and ${running.length - mostRows} more`] : []),
  ]
}

function unservedLine({ labels, runs }: { readonly labels: readonly string[]; readonly runs: number }): string {
  const waiting = counted(runs, 'run waits', 'runs wait')
  if (labels.length === 0) return `${waiting} for a worker. To start one, run agent batch worker`
  return `${waiting} for a worker with the labels ${labels.join(', ')}. To start one, run agent batch worker --labels ${labels.join()}`
}
