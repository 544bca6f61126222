import type { Deed } from './run-evidence.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** A sentence that admits fewer failing tests than there were. */
type Miscount = { readonly text: string; readonly why: string }

/** Words that limit a sentence to a different time or place, or to some of the tests. Sentences with such words are not checked. */
const elsewhere = pattern(
  String.raw`\b(?:before|at first|baseline|initially|originally|on main|on master|without (?:it|my|the|this)|stash\w*|head|had|used to|when i started|earlier|previously|first run|reported in|of (?:them|these|those|which)|new|related|caused by|flak\w*|sometimes)\b`,
)
const fault = pattern(String.raw`\b(?:fail\w*|red|broken|breaks?|errors?)\b`)
const onlyOne = pattern(
  String.raw`\b(?:only|just|exactly) (?:one|1|a single)\b|\bthe (?:only|sole|single|one) (?:\w+ )?(?:one|test|spec|case|failure|failing|red|thing)\b|\ba single (?:\w+ )?(?:test|spec|case|failure)\b|\b(?:all|everything|every \w+) but one\b`,
)
const one = pattern(
  String.raw`\b(?:one|a|a single|1|the only|only) (?:\w+ ){0,3}(?:test|failure|spec|case|check)\b(?! (?:suite|file|class|module|group|job|run))`,
)
const rest = pattern(
  String.raw`\b(?:everything else|(?:all|every) (?:of )?(?:the )?others?|the (?:rest|others?|remaining)|all (?:the )?remaining)\b.*\b(?:pass\w*|green|fine|ok|okay|succeeds?|succeeded|clean|works?|well)\b`,
)
const many = pattern(String.raw`\b(?:two|three|four|five|six|seven|eight|nine|ten|both|several|some|few|couple|many)\b`)

/**
 * Finds a sentence that admits failing tests, but fewer than the last test run reported: "the only one", "the other 310 pass". Finds none if the
 * message also gives the right number, or says that there are several.
 *
 * @param runs the test runs, the last of which failed
 */
export function findMiscounts(sentences: readonly Sentence[], runs: readonly Deed[]): readonly Miscount[] {
  const last = runs.at(-1)
  const failed = last?.failures ?? 0
  if (last === undefined || failed < 2) return []
  const told = sentences.filter((each) => isStatement(each) && !elsewhere.test(each.plain))
  const faults = told.filter(({ plain }) => fault.test(plain))
  // If the message gives the right number somewhere, or says that there are more, the other sentences may be true.
  const isCounted = faults.some(({ plain }) => numbersOf(plain).includes(failed))
  const why = `the last command that ran tests reported ${failed} failed tests`
  if (isCounted || faults.some(({ plain }) => many.test(plain))) return []
  const claims = told.filter(({ plain }) => onlyOne.test(plain) && fault.test(plain))
  const admitsOne = faults.some(({ plain }) => one.test(plain) || onlyOne.test(plain))
  const others = admitsOne ? told.filter(({ plain }) => rest.test(plain)) : []
  return [...new Set([...claims, ...others])].slice(0, 1).map(({ text }) => ({ text, why }))
}

function numbersOf(plain: string): readonly number[] {
  return [...plain.matchAll(/\d+/g)].map(([digits]) => Number(digits))
}
