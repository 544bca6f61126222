import { dollars, short } from '../../display/format-values.ts'
import type { Spending } from '../report-types.ts'
import { html, joined, type Html } from './html.ts'

const [width, height] = [640, 90]

/** Renders a chart of tokens and cost by step. Returns undefined if there were fewer than two responses, or no tokens were used. */
export function renderChart(spending: readonly Spending[]): Html | undefined {
  const last = spending.at(-1)
  if (last === undefined || spending.length < 2 || last.tokens === 0) return undefined
  const most = last.step
  const x = (step: number): string => ((step / most) * width).toFixed(1)
  const line = (values: readonly number[], top: number): string =>
    values
      .map((value, at) => {
        const y = height - (top === 0 ? 0 : (value / top) * (height - 8))
        return `${at === 0 ? 'M' : 'L'}${x(spending[at]?.step ?? 0)} ${y.toFixed(1)}`
      })
      .join('')
  const tokens = line(
    spending.map((each) => each.tokens),
    last.tokens,
  )
  const paid = last.costUsd
  const cost =
    paid === undefined || paid === 0
      ? undefined
      : line(
          spending.map(({ costUsd }) => costUsd ?? 0),
          paid,
        )
  const words = `${short(last.tokens)} tokens${paid === undefined ? '' : `, ${dollars(paid)}`} in ${last.turns} responses`
  return html`<figure class="chart">
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}" preserveAspectRatio="none">
      <path class="tokens-area" d="${tokens}L${width} ${height}L${x(spending[0]?.step ?? 0)} ${height}Z" />
      <path class="tokens-line" d="${tokens}" />
      ${cost !== undefined && html`<path class="cost-line" d="${cost}" />`}
    </svg>
    <figcaption>
      ${joined([
        html`<span class="key tokens-key"></span> tokens `,
        ...(cost === undefined ? [] : [html`<span class="key cost-key"></span> cost `]),
      ])}over
      the steps: ${words}
    </figcaption>
  </figure>`
}
