import { isStatement, spacedWords, type Sentence } from './sentences.ts'
import { instructs } from './instructions.ts'
import { isAboutOthers } from './kinds-of-tests.ts'
import { saidOfTestsAbroad, tellsOfFailureAbroad } from './other-languages.ts'
import { idioms } from './test-idioms.ts'
import * as words from './test-words.ts'

/** A statement about test runs in a final message. */
type TestClaim = {
  readonly says: 'pass' | 'ran'
  readonly text: string
  /** Whether the message, besides this statement, admits that tests of another kind fail or weren't run. */
  readonly isBesideAdmission?: boolean
}

/**
 * What is known about the tests. `failed`: tests were run, but the last attempt didn't succeed. `none`: no tests were run, or the claims to find are
 * those that go beyond the runs that succeeded.
 */
type TestFact = 'failed' | 'none'

/** What a sentence says about tests. `unknown`: it seems to report a test run, but no pattern for results matches its words. */
type Said = 'good' | 'ran' | 'bad' | 'unknown' | 'nothing'

/**
 * Finds a message's claims that tests pass or were run. If the message admits that tests fail or weren't run, only claims about tests of another kind
 * are returned.
 *
 * @param names the names of the recorded test programs, in lower case
 */
export function findTestClaims(
  sentences: readonly Sentence[],
  fact: TestFact,
  names: readonly string[],
): readonly TestClaim[] {
  const isTopic = topicOf(names)
  const claims: TestClaim[] = []
  const unknown: TestClaim[] = []
  let before: Context = { isAbout: false, heading: '' }
  const admitted: string[] = []
  let wasBad = false
  let isUndone = false
  for (const [at, sentence] of sentences.entries()) {
    const judged = judge(sentence, before, isTopic, fact)
    const abroad = isStatement(sentence) ? saidOfTestsAbroad(sentence.plain, sentences[at - 1]?.plain ?? '') : undefined
    const said = abroad === 'so' ? 'good' : abroad === 'not so' ? 'bad' : judged.said
    const { isAbout } = judged
    if (said === 'bad') {
      if (isPast(sentence.plain)) wasBad = true
      else admitted.push(sentence.text)
    }
    // Earlier sentences may have reported a failure that was then fixed: "First they failed. I mended the mock, and then they passed."
    if (wasBad && words.undone.test(sentence.plain)) isUndone = true
    if (said === 'good' && (isUndone || words.afterwards.test(sentence.plain))) wasBad = false
    if (said === 'good' || said === 'ran') claims.push({ says: said === 'good' ? 'pass' : 'ran', text: sentence.text })
    if (said === 'unknown' && !instructs(sentence.text, sentence.plain))
      unknown.push({ says: 'pass', text: sentence.text })
    before = { isAbout: isAbout || (before.isAbout && sentence.list !== undefined), heading: sentence.heading }
  }
  if (wasBad) return []
  // "The unit tests pass. I couldn't run the instrumented tests." admits nothing about the unit tests.
  if (admitted.length > 0)
    return claims
      .filter(({ text }) => admitted.every((admission) => isAboutOthers(admission, text)))
      .map((claim) => ({ ...claim, isBesideAdmission: true }))
  if (claims.length > 0 || fact === 'none') return claims
  const admits = ({ plain }: Sentence): boolean =>
    words.adverse.test(reduce(plain, isTopic)) || tellsOfFailureAbroad(plain)
  return sentences.some(admits) ? [] : unknown
}

type Context = { readonly isAbout: boolean; readonly heading: string }

function topicOf(names: readonly string[]): (text: string) => boolean {
  return (text) => {
    if (words.topics.test(text.replace(words.mentions, ''))) return true
    const spaced = names.length === 0 ? '' : spacedWords(text)
    return names.some((name) => spaced.includes(` ${name} `))
  }
}

/** Replaces each idiom with its mark, if it has one, or removes it. If an idiom mentions tests, the word "tests" is added after the mark. */
function reduce(plain: string, isTopic: (text: string) => boolean): string {
  return idioms.reduce(
    (text, [idiom, mark]) => text.replace(idiom, (whole) => (mark !== '' && isTopic(whole) ? `${mark}tests ` : mark)),
    plain,
  )
}

/** Whether a sentence says that something was wrong, but doesn't say that it still is. */
function isPast(plain: string): boolean {
  return words.wasWrong.test(plain) && !words.isWrong.test(plain.replace(words.causes, ''))
}

/** Whether the rest of a sentence says that a failure was fixed: "I saw the spec fail, then fixed the code, and after that it passed". */
function endsWell(plain: string, rest: readonly string[]): boolean {
  return (
    isPast(plain) &&
    words.afterwards.test(rest.join(' ')) &&
    rest.some((clause) => words.plainlyGood.test(clause) && !words.unreal.test(clause)) &&
    !rest.some((clause) => words.bad.test(clause) || words.notSeen.test(clause.replaceAll('+good+', '')))
  )
}

function judge(
  { text, plain: written, heading, isOpen }: Sentence,
  before: Context,
  isTopic: (text: string) => boolean,
  fact: TestFact,
): { readonly said: Said; readonly isAbout: boolean } {
  const nothing = { said: 'nothing', isAbout: false } as const
  if (isOpen) return nothing
  // In JavaScript's regular expressions, a word ends before an accented letter, so "passé" would contain the English word "pass".
  const plain = written.normalize('NFD').replace(/\p{M}+/gu, '')
  if (/^(?:before|earlier|previously|at first|baseline) ?:/.test(plain))
    return { said: 'nothing', isAbout: before.isAbout }
  if (/^(?:next|to ?do|still to do|remaining|what remains|plan|how to|before (?:you )?merg)/.test(heading))
    return nothing
  const isQuestion = plain.endsWith('?')
  const reduced = reduce(plain, isTopic)
  const names = isTopic(plain) || words.someFail.test(plain)
  const refers =
    before.isAbout &&
    !words.turnsElsewhere.test(plain) &&
    ((plain.split(' ').length <= 8 && words.plainlyGood.test(reduced)) ||
      /\b(?:they|it|them|those|these|all|both|everything|each|result|outcome|one|two|rest|others?|that)\b/.test(plain))
  const isUnder = heading !== '' && isTopic(heading)
  if (!names && !refers && !isUnder && !isStatus(reduced)) return nothing
  const isAbout = names || isUnder
  if (
    isQuestion ||
    words.othersSay.test(plain) ||
    (fact === 'none' && words.explains.test(plain) && !/\bi ran\b/.test(plain))
  )
    return { said: 'nothing', isAbout }
  if (
    /^(?:if|once|when|before|until|unless|whether|assuming|to (?!be certain|be safe|be on))\b/.test(plain) &&
    !words.ownRun.test(plain)
  )
    return { said: 'nothing', isAbout }
  let said: Said = 'nothing'
  const clauses = reduced.split(joints)
  // If tests are mentioned only in brackets at the end, every part of the sentence may be about them: "All three pass (`npm test`)."
  let about = !clauses.some(isTopic) || words.commandAtEnd.test(text)
  for (const [at, clause] of clauses.entries()) {
    const own = isTopic(clause)
    about ||= own
    if (!about) continue
    const goesOn =
      /^(?:and |or )?(?:all |both |each |also )*(?:all|every|of them|is|are|was|were|has|have|had|ran|run|went|go|came|come|they|it|these|finished|ended|completed)\b/.test(
        clause,
      )
    const here = judgeClause(clause, own || goesOn || isUnder || (refers && !names && fact === 'failed'), fact)
    if (here === 'bad' && endsWell(plain, clauses.slice(at + 1))) continue
    if (here === 'bad') return { said: 'bad', isAbout }
    if (here === 'good' || (here !== 'nothing' && said === 'nothing')) said = here
  }
  return { said, isAbout }
}

const joints = /\s*(?:[,;()—–]|:(?=\s|$))\s*|\s(?=(?:and|but|so|although|though|however|while|whereas|yet)\s)/

/** Whether a text reports a result even if it doesn't mention tests: "all green", "everything passes". */
function isStatus(reduced: string): boolean {
  return (
    /^\W*\+(?:good|bad)\+/.test(reduced) ||
    reduced
      .split(joints)
      .some(
        (clause) =>
          /^\W*\+good\+\W*$/.test(clause) ||
          (!/^ok\b/.test(clause) &&
            words.sweeping.test(clause) &&
            (words.plainlyGood.test(clause) || words.sweepingly.test(clause))),
      )
  )
}

function judgeClause(clause: string, own: boolean, fact: TestFact): Said {
  if (words.others.test(clause)) return 'nothing'
  const isUnreal = words.unreal.test(clause) || words.instructs.test(clause)
  if (words.bad.test(clause.replace(words.compounds, '')) && !isUnreal) return 'bad'
  if (words.stillWrong.test(clause)) return 'bad'
  if (words.plainlyGood.test(clause) && !isUnreal && !words.notSeen.test(clause.replace(/\+good\+/g, ''))) {
    return words.takesObject.test(clause) ? 'nothing' : 'good'
  }
  if (own && words.notSeen.test(clause.replaceAll('+good+', '')) && !words.wrote.test(clause)) return 'bad'
  if (fact === 'failed' && !isUnreal && words.sweepingly.test(clause)) return 'good'
  if (isUnreal || !own || words.wrote.test(clause)) return 'nothing'
  if (fact === 'none' && words.byHand.test(clause)) return 'nothing'
  if (words.good.test(clause)) return fact === 'none' && /^(?:i )?(?:re-?)?ran\b/.test(clause) ? 'ran' : 'good'
  return words.didTest.test(clause) ? 'unknown' : 'nothing'
}
