import type { Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

const work = '(?:commits?|changes?|fix|patch|pr|pull request|merge request|merge|refactoring|rewrite|revert)'
const hash = '(?: `?(?:[0-9a-f]{7,40}|[#!]\\d{1,6})\\b`?)'
const day =
  '(?:(?:last |this )?(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|week|month|year)|yesterday|January|February|March|April|May|June|July|August|September|October|November|December)'
const when = `(?: (?:from|on|of|in) ${day})`
const changed =
  '(?:already |had |has |also |then )*(?:changed|added|fixed|moved|removed|renamed|introduced|rewrote|updated|touched|made|replaced|deleted|created|extended|taught|switched|covers?|contains?|includes?)'
const did = `(?:${changed}|was|went|landed|did)`
const lead = '^(?:(?:[Tt]his is |[Ii]t is |[Ii]t was |[Tt]hat was )?(?:[Aa]lready |[Ii]n |[Ww]ith |[Ss]ince |by )*)'
/** "The team" or a name in the possessive form, but not a word such as "Today's". */
const whose =
  "(?:the team|(?!(?:Today|This|The|That|It|Here|There|What|Each|Run|Now|Our|My)\\b)\\p{Lu}\\p{L}{1,30}(?: \\p{Lu}\\p{L}{1,30})?)'s"
const earlier = '(?:(?:earlier|previous|recent|last|own|merged) )'

/** Patterns for sentences about work that somebody else did, or that was done on an earlier day: "Marta's commit `b83d1f0` from Tuesday changed". */
const ofOthers: readonly RegExp[] = [
  `${lead}${whose} ${earlier}*${work}${hash}?${when}?,? ${changed}\\b`,
  `${lead}(?:${whose}|[Yy]our|[Tt]heir|[Hh]is|[Hh]er) (?:${earlier}+${work}${hash}?|${work}${hash}|${work}(?=${when}))${when}?,? ${did}\\b`,
  `${lead}(?:[Tt]he )?${earlier}*(?:${work}|[Cc]ommit)${hash} (?:(?:by|from) (?:\\p{Lu}\\p{L}{1,30}(?: \\p{Lu}\\p{L}{1,30})?|upstream)|(?:from|on|of) ${day})${when}?,? ${did}\\b`,
].map((each) => pattern(each, 'u'))

const ownDeed = /\b(?:i|i've|we|we've|my|our|mine)\b/
/** Matches a sentence that continues a statement about somebody else's work or earlier work. */
const goesOn = pattern(
  `^(?:and |so |then |there )?(?:it|that ${work}|this ${work}|that one|they|she|he)${hash}?(?: also| then)? (?!is now\\b|now\\b)\\S`,
)

/** Returns the sentences without those that are only about the work of others, or about work that was done before the run. */
export function withoutOthersWork(sentences: readonly Sentence[]): readonly Sentence[] {
  let isOfOthers = false
  return sentences.filter(({ text, plain }) => {
    const begins = ofOthers.some((each) => each.test(text.replaceAll('’', "'")))
    isOfOthers = !ownDeed.test(plain) && (begins || (isOfOthers && goesOn.test(plain)))
    return !isOfOthers
  })
}
