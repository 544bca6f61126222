import type { ShellWord } from './shell-word.ts'

/** A value assigned to a name, before a command or by itself. */
export type ShellAssignment = {
  readonly name: string
  /** Undefined for an array. */
  readonly value: ShellWord | undefined
}

/** A file that a redirection opens. */
export type FileRedirection = { readonly access: 'read' | 'write'; readonly target: ShellWord }

/** A command's standard input, as far as the line shows. */
export type StandardInput =
  | { readonly from: 'caller' }
  /** `stages` are the commands before it in the pipeline, where each is a simple one. */
  | { readonly from: 'pipe'; readonly stages?: readonly (readonly ShellWord[])[] }
  | { readonly from: 'file' }
  /** `text` is undefined where it depends on expansions; `reveals` is a variable of the environment in it. */
  | { readonly from: 'text'; readonly text: string | undefined; readonly reveals?: string }

/** One command that would run: program and arguments, with the shell's effects around it. */
export type SimpleCommand = {
  /** Program first. Empty where there are only assignments or redirections. */
  readonly words: readonly ShellWord[]
  readonly assignments: readonly ShellAssignment[]
  readonly redirections: readonly FileRedirection[]
  readonly input: StandardInput
  /** The program comes from a variable that the line sets: understood, yet never treated as known. */
  readonly indirect?: boolean
  /** It calls a function that is certainly defined by then, and whose commands are listed. */
  readonly callsFunction?: boolean
}

/** The commands that a shell text would run, and every reason why that list may be incomplete. */
export type ShellScript = {
  readonly commands: readonly SimpleCommand[]
  readonly functions: ReadonlySet<string>
  readonly problems: readonly string[]
  /** Where data is evaluated as text, as arithmetic does with the value of a variable. */
  readonly evaluations: readonly string[]
}
