import type { Executed } from './run-battery.ts'

/** A column of the matrix: who ran the battery, and the outcomes. */
export type Column = { readonly title: string; readonly executed: readonly Executed[] }

/**
 * Renders the outcomes as a matrix of probes and backends. The matrix contains only probes that were executed. An outcome that differs from the
 * expected one is in capitals.
 */
export function renderMatrix(columns: readonly Column[]): string {
  const probes = [...new Set(columns.flatMap(({ executed }) => executed.map(({ probe }) => probe)))]
  const heads = columns.flatMap(({ title }) => [`${title} ww`, `${title} ro`])
  const rows = probes.map((probe) => [
    probe,
    ...columns.flatMap(({ executed }) =>
      (['workspace-write', 'read-only'] as const).map((mode) => {
        const cell = executed.find((each) => each.probe === probe && each.mode === mode)
        if (cell === undefined) return '–'
        return cell.outcome === cell.expected ? cell.outcome : cell.outcome.toUpperCase()
      }),
    ),
  ])
  const table = [['probe', ...heads], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
