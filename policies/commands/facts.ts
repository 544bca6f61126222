/** The effects of a command, worst last. A command can have several. */
export type Fact =
  | { readonly class: 'read-only' }
  | { readonly class: 'writes'; readonly paths: readonly string[] }
  | { readonly class: 'network'; readonly hosts: readonly string[] }
  | { readonly class: 'runs-code'; readonly reason: string }
  | {
      readonly class: 'destructive'
      readonly reason: string
      /** `named`: just the files named. `wide`: a whole tree, uncommitted work, history, a device. */
      readonly extent: 'named' | 'wide'
    }
  | { readonly class: 'unknown'; readonly reason: string }

/** The names of the facts. */
export type CommandClass = Fact['class']

/**
 * Something that needs a question however harmless the rest is, and that no allow rule overrides: more rights, text run as code, an environment that
 * is shown or changes what runs, secrets, another repository, and what is harmless only in a sandbox: URLs of remotes, which contain no password in
 * the git configuration that it shows, variables of containers, whose daemon it doesn't show, host names that a program resolves as a side effect. An
 * unlisted file is a file of a home or the system that may contain credentials, because no table lists it: the sandbox shows it.
 */
export type Alarm = {
  readonly kind: 'privilege' | 'eval' | 'environment' | 'secret' | 'other-repository' | 'unsandboxed' | 'unlisted-file'
  readonly reason: string
}

const order: readonly CommandClass[] = ['read-only', 'writes', 'network', 'runs-code', 'destructive', 'unknown']

/** The worst class among facts; no facts at all is `read-only`, since then nothing happens. */
export function worstClass(facts: readonly Fact[]): CommandClass {
  return order[Math.max(0, ...facts.map((fact) => order.indexOf(fact.class)))] ?? 'unknown'
}

/** A fact in words, for reasons and explanations. */
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

/** It reads and prints. */
export const readOnly: Fact = { class: 'read-only' }

/** Its effect is unknown. */
export function unknown(reason: string): Fact {
  return { class: 'unknown', reason }
}
