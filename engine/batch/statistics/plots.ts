import { dollars } from '../../display/format-values.ts'
import { html, joined, type Html } from '../../report/html/html.ts'
import type { BatchStatistics } from './compare-models.ts'

/** The width and height of a bar in the units of its SVG drawing, which the page stretches to the available width. */
const [width, height] = [1000, 16]

type Row = {
  readonly name: string
  readonly label: string
  readonly value: number
  readonly low?: number
  readonly high?: number
}

/** Draws bar charts for the HTML page: the share of solved runs with its interval, and the cost of a solved task. Empty if there are no answers. */
export function renderPlots({ models }: BatchStatistics): Html {
  const shares = models.flatMap(({ model, share }): readonly Row[] =>
    share === undefined
      ? []
      : [
          {
            name: nameOf(model),
            label: `${(share.value * 100).toFixed(1)} %`,
            value: share.value,
            low: share.low,
            high: share.high,
          },
        ],
  )
  const costs = models.flatMap(({ model, costPerSolvedUsd: cost }): readonly Row[] =>
    cost === undefined || cost === 0 ? [] : [{ name: nameOf(model), label: dollars(cost), value: cost }],
  )
  const most = Math.max(0, ...costs.map(({ value }) => value))
  return joined([
    ...(shares.length === 0
      ? []
      : [plot('Share of answered runs that were solved (with 95 % confidence interval)', shares, 1)]),
    ...(costs.length === 0 ? [] : [plot('Cost of a solved task', costs, most)]),
  ])
}

/**
 * Draws one bar chart. Names and figures are outside the SVG drawings, so that on a narrow screen the text wraps and keeps its size, and only the bars shrink.
 */
function plot(title: string, rows: readonly Row[], most: number): Html {
  const at = (value: number): string => ((value / most) * width).toFixed(1)
  const bars = rows.map(
    ({ name, label, value, low, high }) =>
      html`<div class="bar">
        <span class="name">${name}</span
        ><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
          <rect width="${at(value)}" height="${height}" />
          ${
            low !== undefined &&
            high !== undefined &&
            html`<path d="M${at(low)} 3v10M${at(low)} 8H${at(high)}M${at(high)} 3v10" />`
          }</svg
        ><span>${label}</span>
      </div>`,
  )
  return html`<figure class="plot">
    <figcaption>${title}</figcaption>
    ${bars}
  </figure>`
}

function nameOf(model: string | undefined): string {
  return model ?? 'as configured'
}
