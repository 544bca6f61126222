import * as z from 'zod'

/** How a run is verified when its model is done. */
export type Verification = {
  /** Shell command lines to run in the sandbox, in this order. `[]`: none. */
  readonly commands: readonly string[]
  /** How many times failures are reported to the model; 0 means as many times as the budget allows. */
  readonly attempts: number
  /** Those among `commands` that must also have failed before the change. */
  readonly red: readonly string[]
}

/** The default for `attempts`. */
export const defaultAttempts = 2

/** The formats of reports that a `--verify` command may write itself. */
const reportFormats = ['junit', 'tap', 'go-json', 'jest-json'] as const

/** A report that a `--verify` command writes: its format and its path, relative to the directory in which the command runs. */
export type NamedReport = { readonly format: (typeof reportFormats)[number]; readonly path: string }

/** What the user says about how changes are judged. */
export type JudgeSettings = {
  /** The report that the commands write. Undefined: the runners that are known are asked for one. */
  readonly report: NamedReport | undefined
  /** Globs of further files that belong to the judge. */
  readonly protect: readonly string[]
  /** Whether a change may land whose tests were rewritten. */
  readonly allowTestChanges: boolean
  /** Globs of files whose tests or settings may become weaker. */
  readonly allowWeakening: readonly string[]
}

/** Reads `FORMAT:PATH`; undefined if it isn't that. */
export function parseReport(text: string): NamedReport | undefined {
  const at = text.indexOf(':')
  const format = reportFormats.find((each) => each === text.slice(0, at))
  const path = text.slice(at + 1)
  return format === undefined || path === '' || path.startsWith('/') ? undefined : { format, path }
}

/** The fields of a verification in a session. */
export const verificationFields = {
  commands: z.array(z.string()),
  attempts: z.int(),
  red: z.array(z.string()).default([]),
}
