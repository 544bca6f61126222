/** One check, and its result. */
export type Row = {
  /**
   * The group of the check. The row of the group `sandbox` only says whether a run would have the sandbox that it needs, because the report has a separate part
   * about the sandbox.
   */
  readonly group: 'model' | 'git' | 'configuration' | 'files' | 'sandbox' | 'credentials'
  readonly check: string
  /** `missing`: `agent exec` would not start. `note`: it would start, but the user may want to know this. */
  readonly state: 'ok' | 'note' | 'missing'
  readonly found: string
  /** What the user should do. Absent: nothing needs to be done, or `found` is all that can be said. */
  readonly next?: string
}

const marks: Readonly<Record<Row['state'], string>> = { ok: 'ok', note: '--', missing: 'no' }

/** Renders rows as text for a terminal, with a heading for each group. */
export function renderRows(rows: readonly Row[]): readonly string[] {
  const groups = [...new Set(rows.map(({ group }) => group))]
  return groups.flatMap((group) => [
    group,
    ...rows
      .filter((row) => row.group === group)
      .flatMap(({ check, state, found, next }) => [
        `  ${marks[state]}  ${check}: ${indent(found)}`,
        ...(next === undefined ? [] : [`      ${indent(next)}`]),
      ]),
  ])
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n      ')
}
