import type { PrefixRule } from './rule.ts'
import { leavesOutRun } from './spellings.ts'

/** The rules that name one program. They are indexed, so that rules whose words don't occur in a command can be skipped. */
export type ProgramRules = {
  readonly all: readonly PrefixRule[]
  /** Rules, keyed by a word that a command must contain. */
  readonly byWord: ReadonlyMap<string, readonly PrefixRule[]>
  /** The rules without such a word: they may match a command no matter which words it contains. */
  readonly others: readonly PrefixRule[]
}

/** Indexes the rules of one program. */
export function indexRules(all: readonly PrefixRule[], program: string): ProgramRules {
  const byWord = new Map<string, PrefixRule[]>()
  const others: PrefixRule[] = []
  for (const rule of all) {
    const words = wordsOf(rule, program)
    if (words === undefined) others.push(rule)
    for (const word of new Set(words)) {
      const filed = byWord.get(word)
      if (filed === undefined) byWord.set(word, [rule])
      else filed.push(rule)
    }
  }
  return { all, byWord, others }
}

/** Whether an entry of a pattern is an option, which may be spelt in several ways. */
export function isOptionEntry(entry: readonly string[]): boolean {
  return entry.every((text) => text.startsWith('-') && text !== '-')
}

/**
 * The words of the pattern's last entry that isn't an option. For the rule to match, a command must contain one of them, spelt exactly as in the
 * pattern. Undefined if a command may also match without them.
 */
function wordsOf({ pattern, text }: PrefixRule, program: string): readonly string[] | undefined {
  const operands = pattern.slice(1).filter((entry) => !isOptionEntry(entry))
  const last = operands.at(-1)
  if (text !== undefined || last === undefined) return undefined
  const isOwn = program === 'npm' || leavesOutRun(program)
  // These programs have aliases for their subcommands, and start some scripts, such as `test`, without the subcommand `run`.
  if (isOwn && (operands.length < 2 || last.some((word) => /^(?:test|start|stop|restart)$/.test(word))))
    return undefined
  return last
}

const parts = new WeakMap<PrefixRule, string>()

/** The longest text between the stars of a rule. Every matching command must contain it. */
export function longestPart(rule: PrefixRule): string {
  const known = parts.get(rule)
  if (known !== undefined) return known
  const longest = (rule.text ?? '').split('*').reduce((a, b) => (b.length > a.length ? b : a))
  parts.set(rule, longest)
  return longest
}
