import { quotesIn, scriptOf } from './quoted.ts'
import type { Deed } from './run-evidence.ts'

/** Kinds of tests: what a message calls them, and what the command for them contains. */
const kinds: readonly (readonly [said: RegExp, shown: RegExp])[] = [
  [/\bunit[- ]tests?\b/i, /unit/i],
  [/\bintegration[- ](?:tests?|suite)\b/i, /integ|failsafe/i],
  [/\b(?:e2e|end-to-end)\b/i, /e2e|end-?to-?end|cypress|playwright|wdio|detox/i],
  [/\b(?:instrumented|instrumentation|device|emulator)[- ]tests?\b/i, /connected|instrument/i],
  [/\bacceptance[- ](?:tests?|suite)\b/i, /accept/i],
  [/\bsmoke[- ]tests?\b/i, /smoke/i],
  [/\bcontract[- ]tests?\b/i, /contract|pact/i],
  [/\b(?:browser|system|ui)[- ](?:tests?|specs)\b/i, /browser|system|\bui\b|:ui|ui[:_-]?test/i],
  [/\b(?:load|performance|stress)[- ]tests?\b/i, /load|perf|stress|k6|locust/i],
]

/** The kinds of tests that a text names, as indexes into `kinds`. */
function kindsIn(text: string): readonly number[] {
  return kinds.flatMap(([said], at) => (said.test(text) ? [at] : []))
}

/** Whether an admission is about tests other than those of a claim: both name kinds of tests, but no kind in common. */
export function isAboutOthers(admission: string, claim: string): boolean {
  const admitted = kindsIn(admission)
  const claimed = kindsIn(claim)
  return admitted.length > 0 && claimed.length > 0 && !admitted.some((kind) => claimed.includes(kind))
}

/**
 * The recorded test runs that a text names: the last run of each command that it quotes, and the last run of each kind of tests that it mentions.
 */
export function namedRuns(text: string, runs: readonly Deed[]): readonly Deed[] {
  const quoted = quotesIn(text).flatMap(
    (quote) => runs.findLast(({ command }) => isQuoted(quote, scriptOf(command))) ?? [],
  )
  const ofKinds = kindsIn(text).flatMap(
    (kind) => runs.findLast(({ command }) => kinds[kind]?.[1].test(scriptOf(command))) ?? [],
  )
  return [...quoted, ...ofKinds]
}

/** Whether a command contains the words of a quoted command, perhaps with other words in between: `make clean check` contains `make check`. */
function isQuoted(quote: string, command: string): boolean {
  if (command.includes(quote)) return true
  const [program = '', ...words] = quote.split(' ')
  const all = command.split(/[\s'"]+/)
  const rest = all.slice(all.indexOf(program) + 1)
  return words.length > 0 && all.includes(program) && words.every((word) => rest.includes(word))
}
