/** The owner of a rule. All rules count, and the strictest answer wins, whoever wrote it. */
export type RuleLayer = 'default' | 'user' | 'project' | 'managed'

/** The decision of a rule: run it, ask about it, never. */
export type RuleDecision = 'allow' | 'prompt' | 'forbidden'

/** The position of a rule: `file:line`. */
export type RuleOrigin = { readonly path: string; readonly line: number; readonly layer: RuleLayer }

/** Commands that begin with these words. */
export type PrefixRule = {
  /** One entry per word; an entry with several texts matches any of them. */
  readonly pattern: readonly (readonly string[])[]
  /** An allow applies only to exactly these words, with none after them. */
  readonly exact?: boolean
  /** Instead of a pattern: the whole command in one line, where `*` matches any text. */
  readonly text?: string
  readonly decision: RuleDecision
  readonly justification: string | undefined
  readonly origin: RuleOrigin
}

/** Connections to a host. */
export type NetworkRule = {
  readonly host: string
  /** The only port that an allow covers; restrictions apply to all ports. Absent: any. */
  readonly port?: number
  readonly protocol: 'http' | 'https' | 'socks5_tcp' | 'socks5_udp'
  readonly decision: 'allow' | 'prompt' | 'deny'
  readonly justification: string | undefined
  readonly origin: RuleOrigin
}

/** The decision of a network rule, in the words of its reason. */
export const networkVerbs: Readonly<Record<NetworkRule['decision'], string>> = {
  allow: 'allows',
  prompt: 'asks about',
  deny: 'forbids',
}

/** The files that a program's bare name may mean in allow rules. */
export type HostExecutable = { readonly name: string; readonly paths: readonly string[]; readonly origin: RuleOrigin }

/** A pattern in the syntax of rule files. */
export function describePattern({ pattern, text }: PrefixRule): string {
  return text ?? pattern.map((word) => (word.length === 1 ? (word[0] ?? '') : `(${word.join('|')})`)).join(' ')
}

/** `file:line` and pattern of a rule, in the form used by verdicts and the log. */
export function describeRule(rule: PrefixRule): string {
  return `${rule.origin.path}:${rule.origin.line} ${rule.decision} ${describePattern(rule)}`
}
