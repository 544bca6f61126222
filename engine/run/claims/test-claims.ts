import type { Sentence } from './sentences.ts'
import { conditions, hedges, past, set } from './verbs.ts'

const testWords = set(
  `test tests testing suite suites spec specs pytest vitest jest mocha rspec phpunit ctest unittest tox nox cypress playwright e2e test-suite unit-tests
   ava karma bats nextest`,
)
/** Words for checks other than tests. In a sentence about them, a status without a subject is theirs. */
const checkWords = set(
  'checks lint linter linting eslint tsc mypy typecheck type-check types clippy ruff build builds compile compiles compiler prettier',
)
const passing = set('success pass passes passed passing green succeed succeeds succeeded succeeding successful ok')
const failing = set('fail fails failed failing failure failures broken red')
const none = set('no zero 0 without nothing')
const faults = set('regression regressions error errors')
/** Words that refer to the tests in a sentence after the one that names them. */
const pronouns = set('they everything all these those both it')
/** Words that begin a status without naming tests: "Green across the board", "all passing". */
const universal = set("all everything everything's it's we're back still now fully green")
const objects = set('a an the through to into along their its this that as')
/** Words that attribute the result to somebody or something else. */
const sources = set('log logs according reported says report screenshot transcript pasted claims')
const amounts = set('one two three four five six seven eight nine ten some several few others rest ones')
const ticks = /^[✅✓✔]$/u
const firstPerson = set("i we i've we've i'm")
const denying = set("not never didn't haven't couldn't don't without nothing hasn't wasn't weren't unable")

/** Whether a sentence says that tests pass, or that they were run. */
export function testsClaim(
  { clauses, words, text, heading }: Sentence,
  before: Sentence | undefined,
): { readonly says: 'pass' | 'ran'; readonly about: 'tests' | 'checks' } | undefined {
  if (conditions.has(words[0] ?? '') || text.endsWith('?') || words.some((word) => sources.has(word))) return undefined
  const named = words.some((word) => testWords.has(word))
  const isOfChecks = (sentence: { readonly words: readonly string[] } | undefined): boolean =>
    sentence?.words.some((word) => checkWords.has(word)) === true
  const about = named || !(isOfChecks({ words }) || (isOfChecks(before) && !hasTests(before))) ? 'tests' : 'checks'
  const meant = hasTests(before)
  const isUnder = heading.some((word) => testWords.has(word))
  let isAbout =
    (meant && words.some((word) => pronouns.has(word))) || (isUnder && words.some((word) => ticks.test(word)))
  let says: 'pass' | 'ran' | undefined
  for (const clause of clauses) {
    isAbout ||= clause.some((word) => testWords.has(word) || word === 'checks') || isStatus(clause)
    if (!isAbout) continue
    if (saysPassed(clause, words) || (isUnder && clause.some((word) => ticks.test(word)))) says = 'pass'
    else if (says === undefined && named && saysRan(clause)) says = 'ran'
  }
  if (says === 'pass' && (isPartial(text) || words.some((word, at) => isAdmitted(words, word, at)))) return undefined
  return says === undefined ? undefined : { says, about }
}

const hasTests = (sentence: Sentence | undefined): boolean =>
  sentence?.words.some((word) => testWords.has(word)) === true

/** "Green across the board", "all passing", "everything is green again". */
function isStatus(clause: readonly string[]): boolean {
  const [first = ''] = clause
  if (clause.some((word, index) => /^[1-9]\d*$/.test(word) && /^(?:passed|passing)$/.test(clause[index + 1] ?? '')))
    return true
  const at = clause.findIndex((word) => passing.has(word) && word !== 'successful' && word !== 'ok')
  if (at < 0 || !universal.has(first) || clause.length > 7) return false
  return (
    first !== 'green' || clause.length === 1 || /^(?:across|again|now|on|all|everywhere|after)$/.test(clause[1] ?? '')
  )
}

function saysPassed(clause: readonly string[], words: readonly string[]): boolean {
  const at = clause.findIndex(
    (word, index) =>
      (passing.has(word) && !takesObject(word, clause.slice(index + 1))) ||
      (/^(?:successfully|cleanly|clean)$/.test(word) &&
        clause.some((each) =>
          /^(?:ran|run|runs|complete|completed|finished|executed|came|comes|exits|exited)$/.test(each),
        )) ||
      (none.has(word) && clause.slice(index + 1, index + 4).some((each) => failing.has(each) || faults.has(each))),
  )
  if (at < 0) return ticked(words) || saysClean(clause)
  const before = clause.slice(0, at)
  if (before.some((word) => hedges.has(word))) return false
  // "No test had passed."
  if (before.some((word, index) => none.has(word) && testWords.has(before[index + 1] ?? ''))) return false
  const after = clause.slice(at + 1)
  const isBoth = after.includes('before') && after.includes('after')
  return isBoth || !after.some((word) => past.has(word) || word === 'if') || isFollowedByAfter(clause, words)
}

/** "Not a single failure", "12/12", "came back clean", "exits with 0". */
function saysClean(clause: readonly string[]): boolean {
  const text = clause.join(' ')
  if (/\b(?:not|without) (?:a|one|any)(?: single)? (?:failures?|failing|error)\b/.test(text)) return true
  if (!clause.some((word) => testWords.has(word)) || clause.some((word) => hedges.has(word))) return false
  const [, some = '', all = ''] = /(?:^| )(\d{1,6}) ?(?:\/|out of|of) ?(\d{1,6})(?: |$)/.exec(text) ?? []
  if (some !== '' && some === all) return true
  return /\b(?:is|are|came back|comes back|came out|stay|stays|remain|remains) (?:all |now |still )?(?:clean|happy)\b|\b(?:went|goes|came|comes) through\b|\bexit(?:s|ed)? (?:code |status |with )?0\b|\b(?:no|without|zero) (?:complaints?|issues|problems)\b/.test(
    text,
  )
}

/** "They pass before and after": the second clause has the rest. */
function isFollowedByAfter(clause: readonly string[], words: readonly string[]): boolean {
  return clause.at(-1) === 'before' && words[words.indexOf('before') + 1] === 'after'
}

/** "The tests pass a request to the handler" says nothing about their outcome. */
function takesObject(word: string, after: readonly string[]): boolean {
  if (word === 'green' || !objects.has(after[0] ?? '')) return false
  return !after.slice(1, 4).some((each) => testWords.has(each)) && !after.slice(0, 3).includes('change')
}

function ticked(words: readonly string[]): boolean {
  return words.some((word) => ticks.test(word)) && words.filter((word) => !testWords.has(word)).length <= 3
}

/** "I ran the tests", "the suite was run", "verified with pytest". */
function saysRan(clause: readonly string[]): boolean {
  if (clause.some((word, at) => hedges.has(word) && at < clause.length - 1 && !testWords.has(word))) return false
  const near = (from: number, to: number): boolean =>
    clause.slice(Math.max(0, from), to).some((each) => testWords.has(each))
  return clause.some((word, at) => {
    const last = clause[at - 1] ?? ''
    if (/^(?:ran|reran|re-ran)$/.test(word)) return near(at + 1, at + 6)
    if (word === 'running') return last === 'by' && near(at + 1, at + 6)
    if (/^(?:run|rerun|executed)$/.test(word)) {
      const isPassive = /^(?:was|were|been)$/.test(last)
      return (isPassive && near(at - 6, at)) || (word === 'executed' && !isPassive && near(at + 1, at + 6))
    }
    const isProof = /^(?:tested|verified|confirmed|validated|checked)$/.test(word) && last !== 'be'
    return (
      isProof &&
      clause.slice(at + 1, at + 4).some((each) => /^(?:with|by|using|via)$/.test(each)) &&
      near(at + 1, at + 8)
    )
  })
}

/** "46 of 48", "46/48": not all. */
function isPartial(text: string): boolean {
  const [, some = '', all = ''] = /\b(\d{1,6}) ?(?:of|\/|out of) ?(?:the )?(\d{1,6})\b/.exec(text) ?? []
  return some !== '' && Number(some) < Number(all)
}

/** The same sentence says that some fail. Not: "the failing tests", "the two that failed", "no failures". */
function isAdmitted(words: readonly string[], word: string, at: number): boolean {
  if (!failing.has(word)) return false
  const before = words.slice(Math.max(0, at - 3), at)
  if (
    before.some((each) => none.has(each) || /^(?:that|which|were|was|previously|formerly|had|not|single)$/.test(each))
  )
    return false
  if (testWords.has(words[at + 1] ?? '')) return /^[1-9]\d?$/.test(words[at - 1] ?? '')
  return true
}

/** Whether a sentence says that tests fail still, by itself or with the one before it. */
export function admitsFailures({ clauses, words, text }: Sentence, previous: Sentence | undefined): boolean {
  if (clauses.some(saysNotPassing)) return true
  // "203 passed and 1 failed"
  if (/[1-9] passed\b/.test(text) && /\b[1-9]\d{0,5} failed\b/.test(text)) return true
  const at = words.findIndex((word) => failing.has(word))
  if (at < 0) return false
  const before = words.slice(Math.max(0, at - 3), at)
  const counts = before.some((word) => /^[1-9]\d?$/.test(word) || amounts.has(word))
  if (!words.some((word) => testWords.has(word))) return hasTests(previous) && counts && words.includes('still')
  // "No test failures remain".
  if (before.slice(-2).some((word) => none.has(word))) return false
  return words.includes('still') || words.includes('remain') || before.slice(-2).some((word) => /^[1-9]\d?$/.test(word))
}

/** "The integration tests are not passing." */
function saysNotPassing(clause: readonly string[]): boolean {
  const at = clause.findIndex((word) => passing.has(word))
  const before = clause.slice(0, Math.max(0, at))
  if (!before.some((word) => testWords.has(word)) || before.some((word) => /^(?:that|which|were|was)$/.test(word)))
    return false
  return before.slice(-2).some((word) => /^(?:not|never|don't|doesn't|aren't|isn't|won't)$/.test(word))
}

/** "I didn't run anything", "the tests were not run". */
export function deniesRunning({ clauses }: Sentence): boolean {
  return clauses.some((clause) => {
    const at = clause.findIndex((word) => /^(?:run|running|ran|executed)$/.test(word))
    const before = clause.slice(0, at < 0 ? 0 : at)
    // "No tests were run."
    if (
      before.some((word, index) => word === 'no' && testWords.has(before[index + 1] ?? '')) &&
      before.at(-1) !== 'when'
    )
      return true
    if (!before.some((word) => denying.has(word))) return false
    const after = clause.slice(at + 1)
    const isOfTests = clause.some((word) => testWords.has(word))
    return (
      isOfTests || (before.some((word) => firstPerson.has(word)) && /^(?:anything|it|them|any)$/.test(after[0] ?? ''))
    )
  })
}
