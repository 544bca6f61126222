import type { Alarm, Fact } from '../commands/facts.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import type { ShellAssignment, StandardInput } from '../commands/simple-command.ts'

/** Something a program starts in turn. */
export type Inner =
  | {
      readonly kind: 'command'
      readonly words: readonly ShellWord[]
      readonly assignments?: readonly ShellAssignment[]
      readonly input?: StandardInput
    }
  | { readonly kind: 'script'; readonly text: string; readonly shell: 'bash' | 'sh' }

/** The effects of a program with given arguments. */
export type Judgement = {
  readonly facts: readonly Fact[]
  readonly alarms?: readonly Alarm[]
  /** Commands it runs, to be judged on their own. */
  readonly runs?: readonly Inner[]
  /** The files that it reads, as far as they are known. */
  readonly reads?: readonly ShellWord[]
  /** Files and folders that it only looks at, as far as they are known. */
  readonly names?: readonly ShellWord[]
  /** Folders that it walks, with everything below. */
  readonly trees?: readonly ShellWord[]
  /** The arguments without options before a subcommand, so that rules see `git push` in `git -C . push`. */
  readonly bare?: readonly ShellWord[]
  /** Why it may run commands that aren't visible here, so that rules about commands can't decide. */
  readonly opaque?: string
  /** Set where no row knows the program. */
  readonly unlisted?: boolean
}

/** A row's inputs besides the arguments. */
export type JudgeContext = { readonly input: StandardInput }

/** A row of the tables. Arguments it doesn't understand make the command unknown, never harmless. */
export type Program = {
  /** The source of the row's facts. */
  readonly source: string
  readonly judge: (args: readonly ShellWord[], context: JudgeContext) => Judgement
}

/** Rows by the bare name of their program. */
export type ProgramTable = Readonly<Record<string, Program>>
