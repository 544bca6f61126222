import type * as z from 'zod'

/** The section of the settings' README that describes a setting. */
type Group = 'model' | 'decisions' | 'sandbox' | 'tools'

/** The complete definition of a setting. Only its effect is implemented elsewhere, in one place. */
type Row<Schema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  readonly group: Group
  /** The description of the setting in Markdown, for the README and for the JSON Schema. */
  readonly about: string
  /** The default in Markdown; `none` if there is none. Absent for a table whose keys have their own defaults. */
  readonly unset?: string
  /** The default as a value, for `agent config show`. Absent: `agent config show` lists the setting only if it is set. */
  readonly value?: z.input<Schema>
  /** The keys of a table, for the README, and who may set each of them. Absent: the table is described as a whole. */
  readonly keys?: Readonly<
    Record<string, { readonly about: string; readonly unset?: string; readonly saidBy?: 'user' }>
  >
  /** Who may change the setting, apart from the machine's owner and the command line. `user`: only the user. Absent: the user and a trusted repository. */
  readonly saidBy?: 'user'
  /** Whether the setting is a preference without effect on safety. If so, the user's value doesn't bind the repository. Default: false. */
  readonly isPreference?: true
  /**
   * Whether a requested value allows no more than the fixed one. `asked` and `bound` are values of the whole setting; if they are tables, `key` names
   * the key to compare. If the function returns undefined, or is absent, the two values must be equal.
   */
  readonly within?: (
    asked: z.output<Schema> | undefined,
    bound: z.output<Schema> | undefined,
    key: string,
  ) => boolean | undefined
  /** Whether fixing the key `fixed` also fixes `key`, which is this setting or one of its keys. Absent: it never does. */
  readonly isFixedBy?: (key: string, fixed: string) => boolean
}

/** A row with any schema. Its functions are called only with values of this schema. */
export type AnyRow = Omit<Row, 'within'> & {
  readonly within?: (asked: never, bound: never, key: string) => boolean | undefined
}

/** Defines a row of the table of settings. */
export function row<Schema extends z.ZodType>(given: Row<Schema>): Row<Schema> {
  return given
}
