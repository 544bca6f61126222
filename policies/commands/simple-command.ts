import type { Location } from './place.ts'
import type { ShellWord } from './shell-word.ts'

/** A value assigned to a name, either in front of a command or by itself. */
export type ShellAssignment = {
  readonly name: string
  /** The assigned value; undefined for an array, for the variable of a loop, and for an assignment in arithmetic. */
  readonly value: ShellWord | undefined
}

/** A file that a redirection opens. */
export type FileRedirection = { readonly access: 'read' | 'write'; readonly target: ShellWord }

/** A command's standard input, as far as the command line shows it. */
export type StandardInput =
  | { readonly from: 'caller' }
  /** `stages` are the commands before this one in the pipeline. Absent unless all are known, and are simple commands without redirections. */
  | { readonly from: 'pipe'; readonly stages?: readonly (readonly ShellWord[])[] }
  | { readonly from: 'file' }
  /** `text` is undefined if it depends on expansions. `reveals` names an environment variable that occurs in the text. */
  | { readonly from: 'text'; readonly text: string | undefined; readonly reveals?: string }

/** One command that would run: program and arguments, and the assignments and redirections that the shell performs for it. */
export type SimpleCommand = {
  /** The program and its arguments. Empty if there are only assignments or redirections. */
  readonly words: readonly ShellWord[]
  readonly assignments: readonly ShellAssignment[]
  readonly redirections: readonly FileRedirection[]
  readonly input: StandardInput
  /** The folders in which the shell may be when it runs the command. Absent: where the text begins. */
  readonly folders?: readonly Location[]
  /** Set if the program's name comes from an expansion. Even if the name is known, the effect of the command then counts as unknown. */
  readonly indirect?: boolean
  /** Set if the command calls a function that is certainly defined at that point. The function's commands are listed too. */
  readonly callsFunction?: boolean
}

/** The commands that a shell text would run, and every reason why that list may be incomplete. */
export type ShellScript = {
  readonly commands: readonly SimpleCommand[]
  readonly functions: ReadonlySet<string>
  readonly problems: readonly string[]
  /** Places where the shell evaluates data as code. Arithmetic does so with the value of a variable, for example. */
  readonly evaluations: readonly string[]
}
