import type { Step } from './report-types.ts'

/**
 * Applies a function to all texts of a step that may be long: its parts, the Guardian's reason and rule, denials by the sandbox, and granted
 * permissions.
 */
export function mapTexts(step: Step, cut: (text: string, whole?: string) => string): Step {
  const { parts, verdict, denials, granted } = step
  return {
    ...step,
    parts: parts.map((part) => ({ ...part, text: cut(part.text, part.whole) })),
    verdict: verdict && {
      ...verdict,
      reason: cut(verdict.reason),
      rule: verdict.rule === undefined ? undefined : cut(verdict.rule),
    },
    denials: denials.map(({ subject, rule, howToAllow, ...denial }) => ({
      ...denial,
      subject: cut(subject),
      rule: cut(rule),
      howToAllow: cut(howToAllow),
    })),
    granted: granted.map((text) => cut(text)),
  }
}

/** The lengths of the texts that `mapTexts` changes, in UTF-16 code units. */
export function textLengths({ parts, verdict, denials, granted }: Step): readonly number[] {
  // The lengths are pushed to one array, which is faster than joining several. This matters because a long session has hundreds of thousands of steps.
  const lengths = parts.map(({ text }) => text.length)
  if (verdict !== undefined) lengths.push(verdict.reason.length, verdict.rule?.length ?? 0)
  for (const { subject, rule, howToAllow } of denials) lengths.push(subject.length, rule.length, howToAllow.length)
  for (const { length } of granted) lengths.push(length)
  return lengths
}
