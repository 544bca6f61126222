import type { ShellWord } from './shell-word.ts'

/** An effect of a command. The kinds of effects are ordered from harmless to worst. A command can have several effects. */
export type Fact =
  | { readonly class: 'read-only' }
  | { readonly class: 'writes'; readonly paths: readonly string[] }
  | { readonly class: 'network'; readonly hosts: readonly string[] }
  | { readonly class: 'runs-code'; readonly reason: string }
  | {
      readonly class: 'destructive'
      readonly reason: string
      /**
       * `named`: only the files that the command names. `wide`: a whole tree, uncommitted work, history or a device. `remote`: data on other machines, or
       * what other programs keep.
       */
      readonly extent: 'named' | 'wide' | 'remote'
    }
  | { readonly class: 'unknown'; readonly reason: string }

/** The class of a fact about a command, such as `destructive` or `unknown`. */
export type CommandClass = Fact['class']

/**
 * Something that may require approval no matter how harmless the rest of the command is, and that no allow rule can override: a request for another
 * user's privileges, text that is run as code, a command that shows the environment, a variable that changes what runs, secrets, or another
 * repository. `answerForAlarm` decides which kinds require approval in which mode. An alarm of the kind `unsandboxed` counts only outside a sandbox:
 * it is about the URLs of git's remotes (the git configuration that is visible in the sandbox contains no passwords), the environment variables of
 * containers (the sandbox hides the container daemon), or host names that a program resolves as a side effect. `unlisted-file` is about a file, in a
 * system folder or a home folder, that no table lists: it may contain credentials, and the sandbox doesn't hide it.
 */
export type Alarm = {
  readonly kind: 'privilege' | 'eval' | 'environment' | 'secret' | 'other-repository' | 'unsandboxed' | 'unlisted-file'
  readonly reason: string
  /** The file or folder that an alarm about credentials is about. Absent: it isn't about one that the command names. */
  readonly file?: ShellWord
}

const order: readonly CommandClass[] = ['read-only', 'writes', 'network', 'runs-code', 'destructive', 'unknown']

/** Returns the worst class among facts. Without any facts it is `read-only`, because then nothing happens. */
export function worstClass(facts: readonly Fact[]): CommandClass {
  return order[Math.max(0, ...facts.map((fact) => order.indexOf(fact.class)))] ?? 'unknown'
}

/** Describes a fact in words, for reasons and explanations. */
export function describeFact(fact: Fact): string {
  switch (fact.class) {
    case 'read-only':
      return 'only reads'
    case 'writes':
      return fact.paths.length === 0 ? 'writes files' : `writes ${fact.paths.join(', ')}`
    case 'network':
      return fact.hosts.length === 0 ? 'uses the network' : `connects to ${fact.hosts.join(', ')}`
    case 'runs-code':
    case 'destructive':
    case 'unknown':
      return fact.reason
    default:
      return fact satisfies never
  }
}

/** The fact that a command only reads and prints. */
export const readOnly: Fact = { class: 'read-only' }

/** Creates the fact that a command's effect is unknown, for the given reason. */
export function unknown(reason: string): Fact {
  return { class: 'unknown', reason }
}
