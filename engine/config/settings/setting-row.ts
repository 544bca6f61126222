import type * as z from 'zod'

/** Where a setting stands in the README of settings. */
type Group = 'model' | 'decisions' | 'sandbox' | 'tools'

/** All that is said of a setting, in one place. What it does is in the one place that uses it. */
type Row<Schema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  readonly group: Group
  /** What it is, in Markdown: for the README and for the JSON Schema. */
  readonly about: string
  /** What holds where nobody says anything, in Markdown. Absent: nothing. */
  readonly unset?: string
  /** The same as a value, for `agent config show`. Absent: it has no one value. */
  readonly value?: z.input<Schema>
  /** For a table, its keys as the README has them. Absent: it is described as a whole. */
  readonly keys?: Readonly<Record<string, { readonly about: string; readonly unset?: string }>>
  /** Who may say it beside the machine's owner, the user and the command line. Default: a repository that is trusted. */
  readonly saidBy?: 'user'
  /** Whether it is a matter of taste and not of safety, so that the user's word doesn't bind the repository's. Default: false. */
  readonly isPreference?: true
  /**
   * Whether what is asked lets through no more than what is fixed, where the two may differ: of the whole setting, or of the key of a table.
   * Undefined: only the same does, which is the default.
   */
  readonly within?: (
    asked: z.output<Schema> | undefined,
    bound: z.output<Schema> | undefined,
    key: string,
  ) => boolean | undefined
  /** Whether another setting that was fixed fixes this one as well. Default: none does. */
  readonly isFixedBy?: (key: string, fixed: string) => boolean
}

/** A row whose schema is anyone's. Its functions are called with values that fit it. */
export type AnyRow = Omit<Row, 'within'> & {
  readonly within?: (asked: never, bound: never, key: string) => boolean | undefined
}

/** A row of the table of settings. */
export function row<Schema extends z.ZodType>(given: Row<Schema>): Row<Schema> {
  return given
}
