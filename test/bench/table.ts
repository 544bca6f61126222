import type { BenchRow } from './row.ts'

/** Renders the rows as a table for a terminal. The ratio is our time divided by the peer's, so a ratio below 1 means that we are faster. */
export function renderTable(rows: readonly BenchRow[]): string {
  const header = ['what', 'ours', 'peer', 'ratio', 'CPU ours', 'CPU peer', 'MiB ours', 'MiB peer', '']
  const cells = rows.map(({ name, ours, peer, note }) => [
    name,
    milliseconds(ours.wallMs),
    milliseconds(peer?.wallMs),
    peer === undefined ? '' : (ours.wallMs / peer.wallMs).toFixed(2),
    milliseconds(ours.cpuMs),
    milliseconds(peer?.cpuMs),
    ours.peakMiB?.toFixed(0) ?? '',
    peer?.peakMiB?.toFixed(0) ?? '',
    note ?? '',
  ])
  const table = [header, ...cells]
  const widths = header.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 || column === 8 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...cells.map(line)].join('\n')
}

function milliseconds(value: number | undefined): string {
  if (value === undefined) return ''
  return value < 10 ? `${value.toFixed(2)} ms` : `${value.toFixed(0)} ms`
}
