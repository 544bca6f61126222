/** Where a rule comes from. All rules count, and the strictest answer wins, whoever wrote the rule. */
export type RuleLayer = 'default' | 'user' | 'project' | 'managed'

/** What a rule decides about a command: run it, ask about it, or never run it. */
export type RuleDecision = 'allow' | 'prompt' | 'forbidden'

/** Where a rule was written: its file, its line and its layer. */
export type RuleOrigin = { readonly path: string; readonly line: number; readonly layer: RuleLayer }

/** A rule about commands that begin with certain words. */
export type PrefixRule = {
  /** One entry for each word. An entry with several texts matches any of them. */
  readonly pattern: readonly (readonly string[])[]
  /** Whether an allow rule applies only to exactly the words of the pattern, with no further words after them. */
  readonly exact?: boolean
  /** Used instead of a pattern: the whole command as one line, in which `*` matches any text. */
  readonly text?: string
  readonly decision: RuleDecision
  readonly justification: string | undefined
  readonly origin: RuleOrigin
}

/** A rule about connections to a host. */
export type NetworkRule = {
  readonly host: string
  /** The only port to which an allow rule applies. Absent: it applies to all ports. Rules that restrict apply to all ports in any case. */
  readonly port?: number
  readonly protocol: 'http' | 'https' | 'socks5_tcp' | 'socks5_udp'
  readonly decision: 'allow' | 'prompt' | 'deny'
  readonly justification: string | undefined
  readonly origin: RuleOrigin
}

/** For each decision of a network rule, the verb that describes it in a reason. */
export const networkVerbs: Readonly<Record<NetworkRule['decision'], string>> = {
  allow: 'allows',
  prompt: 'asks about',
  deny: 'forbids',
}

/** The files that the bare name of a program may stand for in allow rules. */
export type HostExecutable = { readonly name: string; readonly paths: readonly string[]; readonly origin: RuleOrigin }

/** Formats the pattern of a rule as one line, with alternatives in parentheses. */
export function describePattern({ pattern, text }: PrefixRule): string {
  return text ?? pattern.map((word) => (word.length === 1 ? (word[0] ?? '') : `(${word.join('|')})`)).join(' ')
}

/** Formats a rule as `file:line`, decision and pattern, as verdicts and the log show it. */
export function describeRule(rule: PrefixRule): string {
  return `${rule.origin.path}:${rule.origin.line} ${rule.decision} ${describePattern(rule)}`
}
