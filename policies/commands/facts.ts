/** What running something would do, worst last. A command can have several. */
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
 * Something that is asked about however harmless the rest is, and that no allow rule lifts:
 * more rights, text run as code, an environment that is shown or changes what runs, secrets, a repository that is not this one, and
 * what only a sandbox makes harmless: addresses of remotes, which hold no password in the configuration that it shows of git, variables of containers, whose daemon
 * it doesn't show, names of machines that a program looks up by the way.
 */
export type Alarm = {
  readonly kind: 'privilege' | 'eval' | 'environment' | 'secret' | 'other-repository' | 'unsandboxed'
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

/** It can't be told what it does. */
export function unknown(reason: string): Fact {
  return { class: 'unknown', reason }
}
