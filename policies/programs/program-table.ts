import type { Alarm, Fact } from '../commands/facts.ts'
import type { Place } from '../commands/place.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import type { ShellAssignment, StandardInput } from '../commands/simple-command.ts'

/** A command or a script that a program runs. */
export type Inner =
  | {
      readonly kind: 'command'
      readonly words: readonly ShellWord[]
      readonly assignments?: readonly ShellAssignment[]
      readonly input?: StandardInput
    }
  | { readonly kind: 'script'; readonly text: string; readonly shell: 'bash' | 'sh' }

/** The effects of a program when it is run with certain arguments. */
export type Judgement = {
  readonly facts: readonly Fact[]
  readonly alarms?: readonly Alarm[]
  /** Commands that the program runs, to be judged separately. */
  readonly runs?: readonly Inner[]
  /** The files that the program reads, as far as they are known. */
  readonly reads?: readonly ShellWord[]
  /** Files and folders of which the program reads only names and metadata, as far as they are known. */
  readonly names?: readonly ShellWord[]
  /** Folders that the program traverses, including everything below them. */
  readonly trees?: readonly ShellWord[]
  /** The arguments without the options that precede the subcommand, so that rules recognize `git push` in `git -C . push`. */
  readonly bare?: readonly ShellWord[]
  /** Why the program may run commands that the analysis can't see. If this is set, a rule that allows the program doesn't cover them. */
  readonly opaque?: string
  /** Set if no table lists the program. */
  readonly unlisted?: boolean
}

/** What the judgement about a program depends on besides its arguments. */
export type JudgeContext = { readonly input: StandardInput; readonly place: Place }

/** A row of the tables, which describes one program. Arguments that the row doesn't cover make the command unknown, never harmless. */
export type Program = {
  /** The documentation from which the row's facts come. */
  readonly source: string
  readonly judge: (args: readonly ShellWord[], context: JudgeContext) => Judgement
}

/** Rows, by the bare names of their programs. */
export type ProgramTable = Readonly<Record<string, Program>>
