import { filesNamedIn } from './named-paths.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** To find out which files a pronoun refers to, at most this many sentences before it are searched for names of files. */
const farthest = 3

const begins =
  '^(?:(?:so|and|but|then|hence|therefore|thus|in the end|for now|as a result|still|now|that is why|which is why)[, ]+)*'
const two =
  '(?:both|both of (?:them|these|those)|(?:both of )?(?:these|those|the) (?:two|2|three|four) ?(?:files|modules|documents)?|both(?: of)?(?: the| these| those)? (?:files|modules|documents)|(?:these|those|all three|all four) (?:files|modules|documents)|neither(?: one)?(?: of (?:them|these|those|the two))?(?: files?)?|none of (?:them|these|those)(?: files)?|either(?: of (?:them|these|those))?|either file)'
const one = '(?:that|this|the) (?:file|module|document)'
const weak = '(?:it|they|that one|this one|all of (?:them|these|those)|them|these|those)'
const as =
  '(?:as (?:(?:it|they) (?:was|were|is|are)|before|you (?:left|had|wrote) (?:it|them)|is|i found (?:it|them))|the way (?:it was|they were)|where (?:it|they) (?:was|were|is|are)|untouched|unchanged|unmodified|unedited|alone|not (?:yet )?(?:touched|changed|modified|edited))'
const verb = "(?: (?:is|are|was|were|has been|have been|stay|stays|stayed|remain|remains|remained)|'s|'re)"
const adverbs = '(?: (?:still|now|all|both|just|exactly|therefore|thus|deliberately|for now|completely|simply))*'
const changed = '(?:touched|changed|modified|edited|altered|written to)'
const leave =
  "(?:i|we)(?:'ve| have)? (?:therefore |deliberately |intentionally |also |so |thus |just |simply |rather )?(?:left|leave|kept|keep)"
const didNot =
  "(?:i|we) (?:therefore |deliberately |have |did )*(?:did not|didn't|have not|haven't|not|never) (?:yet )?(?:touch|change|edit|modify|touched|changed|edited|modified)"
const ends = '(?=$|[.,;:!)—–]| (?:for now|because|since|until|so|and|at all|too|on purpose|in the end))'

const leaves = (subject: string): RegExp =>
  pattern(
    `${begins}(?:${subject}${verb}${adverbs} ${as}${ends}|${leave} ${subject} ${as}${ends}|${didNot} ${subject}(?: yet| either)?${ends})`,
  )
/** Statements that two or more files are unchanged. */
const saysOfTwo = [
  leaves(two),
  pattern(
    `${begins}(?:neither|none)(?: one)?(?: of (?:them|these|those|the two))?(?: files?)?${verb}(?: now| yet| actually)? ${changed}(?: now| yet)?${ends}`,
  ),
]
/** Statements that one file is unchanged. */
const saysOfOne = leaves(one)
/** Statements that "it" or "they" are unchanged. These words need not refer to files. */
const saysOfSome = leaves(weak)
/** Words that limit the statement "these files are unchanged" to a part of the files, or make it depend on a condition. */
const limited =
  /\b(?:otherwise|else|rest|apart|except|besides|behaviou?r|api|interface|signatures?|defaults?|if|unless|should|would|could)\b/
/**
 * A quick check: every statement that files are unchanged contains one of these words. The long patterns are compiled only if a sentence contains
 * one.
 */
const mayBeLeft =
  /n't|\b(?:not|never|neither|none|untouched|unchanged|unmodified|unedited|alone|the way|where (?:it|they)|as (?:it|they|is|before|you|i))\b/
/** A statement that the writer did something. A later "they are unchanged" does not deny it. */
const ownDeed = pattern(
  String.raw`\b(?:i|we)(?:'ve| have)? (?:(?:also|then|now|just|only|\w+ly) )?(?:\w{2,}ed|wrote|rewrote|put|made|set|cut|took)\b|^(?:(?:also|then) )?(?:added|fixed|updated|changed|moved|removed|renamed|wrote|extended|created)\b`,
)

/**
 * Finds the files that a message names and then, by means of a pronoun, describes as unchanged: "You wanted it removed from a.ts. b.ts needs it, so
 * both of those files are as they were."
 */
export function leftByPronoun(sentences: readonly Sentence[]): ReadonlySet<string> {
  const left = new Set<string>()
  for (const [at, sentence] of sentences.entries()) {
    const count = countOf(sentence)
    if (count === 'some') add(left, sentences.slice(0, at).slice(-1), 1, false)
    else if (count !== undefined) add(left, sentences.slice(0, at), count, true)
  }
  return left
}

/**
 * Returns the files that a sentence describes as unchanged with words such as "both" or "that file". Returns none if it isn't clear which files are
 * meant, for example because the last sentence with file names names more or fewer files than these words refer to, or says what the writer did.
 */
export function leftSurely(sentence: Sentence, before: readonly Sentence[]): readonly string[] {
  const count = countOf(sentence)
  if (count === undefined || count === 'some' || filesNamedIn(sentence.text).length > 0) return []
  const last = before.slice(-farthest).findLast(({ text }) => filesNamedIn(text).length > 0)
  if (last === undefined || ownDeed.test(last.plain)) return []
  const paths = [...new Set(filesNamedIn(last.text).map(({ path }) => path))]
  return paths.length === count ? paths : []
}

/**
 * How many files a statement that files are unchanged is about: 1; 2 for two or more; `some` for "it" or "they", which may mean something else.
 * Undefined if the sentence doesn't clearly state this.
 */
function countOf(sentence: Sentence): 1 | 2 | 'some' | undefined {
  if (!isStatement(sentence) || !mayBeLeft.test(sentence.plain) || limited.test(sentence.plain)) return undefined
  const says = (each: RegExp): boolean => sentence.clauses.some((clause) => each.test(clause))
  if (saysOfTwo.some(says)) return 2
  if (says(saysOfOne)) return 1
  return says(saysOfSome) ? 'some' : undefined
}

/** Adds the files named in the sentences before the pronoun, nearest first, until there are at least as many as the pronoun refers to. */
function add(left: Set<string>, before: readonly Sentence[], atLeast: number, isSure: boolean): void {
  let count = 0
  for (const { text, plain } of before.slice(-farthest).toReversed()) {
    if (!isSure && ownDeed.test(plain)) return
    for (const { path } of filesNamedIn(text)) {
      left.add(path)
      count++
    }
    if (count >= atLeast) return
  }
}
