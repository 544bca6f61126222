import { dollars } from '../../display/format-values.ts'
import { html, joined, type Html } from '../../report/html/html.ts'
import type { BatchStatistics } from './compare-models.ts'

const [left, width, right] = [220, 400, 150]
const rowHeight = 28
/** Of a model's name. */
const longestName = 30

type Row = {
  readonly name: string
  readonly label: string
  readonly value: number
  readonly low?: number
  readonly high?: number
}

/** Plots of the solved share with its interval, and of the cost per solved task, as SVG for the page. Empty if there are no answers. */
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
    ...(shares.length === 0 ? [] : [plot('Solved runs among those with an answer (with 95 % interval)', shares, 1)]),
    ...(costs.length === 0 ? [] : [plot('Cost of a solved task', costs, most)]),
  ])
}

function plot(title: string, rows: readonly Row[], most: number): Html {
  const height = rows.length * rowHeight + 8
  const at = (value: number): string => (left + (value / most) * width).toFixed(1)
  const bars = rows.map(({ name, label, value, low, high }, row) => {
    const middle = row * rowHeight + rowHeight / 2
    return html`<text x="${left - 10}" y="${middle + 4}" text-anchor="end" fill="currentColor">${name}</text
      ><rect
        x="${left}"
        y="${middle - 8}"
        width="${((value / most) * width).toFixed(1)}"
        height="16"
        fill="currentColor"
        fill-opacity="0.3"
      />${
        low !== undefined &&
        high !== undefined &&
        html`<path
          d="M${at(low)} ${middle - 5}v10M${at(low)} ${middle}H${at(high)}M${at(high)} ${middle - 5}v10"
          stroke="currentColor"
          stroke-width="1.5"
          fill="none"
        />`
      }<text x="${left + width + 10}" y="${middle + 4}" fill="currentColor">${label}</text>`
  })
  return html`<figure>
    <figcaption>${title}</figcaption>
    <svg
      role="img"
      aria-label="${title}"
      viewBox="0 0 ${left + width + right} ${height}"
      width="${left + width + right}"
      height="${height}"
      font-size="13"
    >
      ${bars}
      <path d="M${left} 0V${height}" stroke="currentColor" stroke-opacity="0.5" fill="none" />
    </svg>
  </figure>`
}

function nameOf(model: string | undefined): string {
  const name = model ?? 'as configured'
  return name.length <= longestName ? name : `${name.slice(0, longestName - 1)}…`
}
