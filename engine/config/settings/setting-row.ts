import type * as z from 'zod'

/** The section of a setting in the README of settings. */
type Group = 'model' | 'decisions' | 'sandbox' | 'tools'

/** The complete definition of a setting, except its effect, which is implemented in one place. */
type Row<Schema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  readonly group: Group
  /** Its description, in Markdown: for the README and for the JSON Schema. */
  readonly about: string
  /** Its default, in Markdown. Absent: none. */
  readonly unset?: string
  /** The same as a value, for `agent config show`. Absent: the default isn't one value. */
  readonly value?: z.input<Schema>
  /** For a table, its keys as the README has them. Absent: it is described as a whole. */
  readonly keys?: Readonly<Record<string, { readonly about: string; readonly unset?: string }>>
  /** Who may set it besides the machine's owner, the user and the command line. Default: a trusted repository. */
  readonly saidBy?: 'user'
  /** Whether it is a matter of taste and not of safety, so that the user's word doesn't bind the repository's. Default: false. */
  readonly isPreference?: true
  /**
   * Whether a requested value allows no more than the fixed one, where the two may differ: of the whole setting, or of the key of a table.
   * Undefined: they must be equal, which is the default.
   */
  readonly within?: (
    asked: z.output<Schema> | undefined,
    bound: z.output<Schema> | undefined,
    key: string,
  ) => boolean | undefined
  /** Whether another fixed setting fixes this one as well. Default: none does. */
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
