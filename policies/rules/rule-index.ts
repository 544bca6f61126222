import type { PrefixRule } from './rule.ts'
import { leavesOutRun } from './spellings.ts'

/** The rules that name one program, indexed so that rules with words that a command doesn't have are skipped. */
export type ProgramRules = {
  readonly all: readonly PrefixRule[]
  /** By a word that a command must contain. */
  readonly byWord: ReadonlyMap<string, readonly PrefixRule[]>
  /** Those that need no particular word. */
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
 * The words of which a command must contain one, in this spelling, for a rule to match: those of the pattern's last entry. Undefined if other words
 * match too.
 */
function wordsOf({ pattern, text }: PrefixRule, program: string): readonly string[] | undefined {
  const operands = pattern.slice(1).filter((entry) => !isOptionEntry(entry))
  const last = operands.at(-1)
  if (text !== undefined || last === undefined) return undefined
  const isOwn = program === 'npm' || leavesOutRun(program)
  // There the first word has other names, and so does a script that is also a command.
  if (isOwn && (operands.length < 2 || last.some((word) => /^(?:test|start|stop|restart)$/.test(word))))
    return undefined
  return last
}

const parts = new WeakMap<PrefixRule, string>()

/** The longest text between a rule's stars, which must occur in every matching command. */
export function longestPart(rule: PrefixRule): string {
  const known = parts.get(rule)
  if (known !== undefined) return known
  const longest = (rule.text ?? '').split('*').reduce((a, b) => (b.length > a.length ? b : a))
  parts.set(rule, longest)
  return longest
}
