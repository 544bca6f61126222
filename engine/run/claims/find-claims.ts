import { findChangedFiles } from './changed-files.ts'
import { sentencesOf, type Sentence } from './sentences.ts'

/** A claim of a final message that a record can contradict. */
export type Claim =
  /** `ran`: only that tests were run, not how they ended. */
  | { readonly kind: 'tests'; readonly says: 'pass' | 'ran'; readonly about: 'tests' | 'checks'; readonly text: string }
  | { readonly kind: 'push'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly gone: boolean; readonly text: string }

/** Finds claims about test runs, pushes and changed files. Hopes, denials and requests are no claims. */
export function findClaims(message: string): readonly Claim[] {
  const sentences = sentencesOf(message)
  const admits = sentences.some(admitsFailures)
  return sentences.flatMap((sentence, at): readonly Claim[] => {
    const { text } = sentence
    const tests = admits ? undefined : testsClaim(sentence, sentences[at - 1])
    return [
      ...(tests === undefined ? [] : [{ kind: 'tests', ...tests, text } as const]),
      ...(claimsPush(sentence) ? [{ kind: 'push', text } as const] : []),
      ...findChangedFiles(sentence).map((file) => ({ kind: 'file', ...file, text }) as const),
    ]
  })
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

const testWords = set(
  'test tests testing suite suites spec specs pytest vitest jest mocha rspec phpunit ctest unittest tox cypress playwright e2e test-suite unit-tests',
)
const passing = set('pass passes passed passing green succeed succeeds succeeded succeeding successful ok')
const failing = set('fail fails failed failing failure failures broken red')
const none = set('no zero 0 without')
const regressions = set('regression regressions')
/** What makes of a claim a wish, a condition, a denial or a duty, where it stands before. */
const hedges = set(
  `should would could will shall may might must can expect expected expects hopefully hope if until unless once please ensure ensures need needs cannot
   not never none nothing when unable whether sure verify to let assuming likely probably unverified didn't don't doesn't haven't hasn't couldn't can't won't wasn't isn't
   weren't aren't wouldn't shouldn't`,
)
const conditions = set('if once when before until unless assuming whether')
/** Words that refer to the tests in a sentence after the one that names them. */
const pronouns = set('they everything all these those both it')
const objects = set('a an the through to into along their its this that as on')
const past = set('before previously earlier originally until yesterday')

function testsClaim(
  { clauses, words, text }: Sentence,
  before: Sentence | undefined,
): { readonly says: 'pass' | 'ran'; readonly about: 'tests' | 'checks' } | undefined {
  if (conditions.has(words[0] ?? '') || text.endsWith('?')) return undefined
  const named = words.some((word) => testWords.has(word))
  const about = named || !words.includes('checks') ? 'tests' : 'checks'
  const meant = before !== undefined && before.words.some((word) => testWords.has(word))
  let isAbout = meant && words.some((word) => pronouns.has(word))
  let says: 'pass' | 'ran' | undefined
  for (const clause of clauses) {
    isAbout ||= clause.some((word) => testWords.has(word) || word === 'checks')
    if (!isAbout) continue
    if (saysPassed(clause, words)) says = 'pass'
    else if (says === undefined && named && saysRan(clause)) says = 'ran'
  }
  if (says === 'pass' && words.some((word, at) => isAdmitted(words, word, at))) return undefined
  return says === undefined ? undefined : { says, about }
}

function saysPassed(clause: readonly string[], words: readonly string[]): boolean {
  const at = clause.findIndex(
    (word, index) =>
      (passing.has(word) && !takesObject(word, clause.slice(index + 1))) ||
      (word === 'successfully' &&
        clause.some((each) => /^(?:ran|run|runs|complete|completed|finished|executed)$/.test(each))) ||
      (none.has(word) && clause.slice(index + 1, index + 4).some((each) => failing.has(each) || regressions.has(each))),
  )
  if (at < 0) return ticked(words)
  const before = clause.slice(0, at)
  if (before.some((word) => hedges.has(word))) return false
  // "No test had passed."
  if (before.some((word, index) => none.has(word) && testWords.has(before[index + 1] ?? ''))) return false
  return !clause.slice(at + 1).some((word) => past.has(word) || word === 'if')
}

/** "The tests pass a request to the handler" says nothing about their outcome. */
function takesObject(word: string, after: readonly string[]): boolean {
  if (word === 'green' || !objects.has(after[0] ?? '')) return false
  return !after.slice(1, 4).some((each) => testWords.has(each)) && !after.slice(0, 3).includes('change')
}

function ticked(words: readonly string[]): boolean {
  return words.some((word) => /^[✅✓✔]$/u.test(word)) && words.filter((word) => !testWords.has(word)).length <= 3
}

function saysRan(clause: readonly string[]): boolean {
  const at = clause.findIndex((word) => word === 'ran' || word === 'running' || word === 'reran' || word === 're-ran')
  const told = at >= 0 && (clause[at] !== 'running' || clause[at - 1] === 'by')
  const after = clause.slice(at + 1, at + 6)
  return told && after.some((word) => testWords.has(word)) && !clause.slice(0, at).some((word) => hedges.has(word))
}

/** The same sentence says that some fail. Not: "the failing tests", "the two that failed", "no failures". */
function isAdmitted(words: readonly string[], word: string, at: number): boolean {
  if (!failing.has(word)) return false
  const before = words.slice(Math.max(0, at - 3), at)
  if (before.some((each) => none.has(each) || /^(?:that|which|were|was|previously|formerly|had)$/.test(each)))
    return false
  if (testWords.has(words[at + 1] ?? '')) return /^[1-9]\d?$/.test(words[at - 1] ?? '')
  return true
}

function admitsFailures({ words }: Sentence): boolean {
  if (!words.some((word) => testWords.has(word))) return false
  const at = words.findIndex((word) => failing.has(word))
  if (at < 0) return false
  const before = words.slice(Math.max(0, at - 2), at)
  // "No test failures remain".
  if (before.some((word) => none.has(word))) return false
  return words.includes('still') || words.includes('remain') || before.some((word) => /^[1-9]\d?$/.test(word))
}

const elsewhere = set('onto into back down aside up off around past inside out')
const places = set(
  'origin remote branch commit commits committed changes upstream main master github gitlab fix tag repository repo it them everything work',
)
const hosts = set('origin remote github gitlab upstream')
const others = set('somebody someone they he she you author team user who week month yesterday ago by')
const refusing = set('refused failed rejected blocked denied declined fails forbidden prevented')

function claimsPush({ clauses, words, text }: Sentence): boolean {
  if (conditions.has(words[0] ?? '') || text.endsWith('?')) return false
  if (words.some((word) => refusing.has(word))) return false
  return clauses.some((clause) => {
    const at = clause.findIndex((word, index) => isPushed(clause, word, index))
    if (at < 0) return false
    const before = clause.slice(0, at)
    if (before.some((word) => hedges.has(word) || others.has(word) || conditions.has(word) || word === 'no'))
      return false
    const after = clause.slice(at + 1)
    if (after.some((word) => elsewhere.has(word))) return false
    return !after.some((word) => past.has(word) || word === 'by')
  })

  function isPushed(clause: readonly string[], word: string, at: number): boolean {
    if (word === 'pushed' || word === 'force-pushed') {
      return (
        word === 'force-pushed' ||
        words.length <= 4 ||
        words.some((each) => places.has(each) || each.startsWith('origin/'))
      )
    }
    // "I did: edit, commit, push" and "your change is live on the remote".
    if (word === 'push' && clause.length === 1) return words[0] === 'i' && words[1] === 'did'
    if (word === 'live') return clause[at + 1] === 'on' && clause.slice(at + 2, at + 5).some((each) => hosts.has(each))
    const after = clause.slice(at + 1, at + 4).join(' ')
    if (word === 'push' && clause.slice(Math.max(0, at - 3), at).includes('did')) return true
    if (word === 'push') return /^(?:went through|succeeded|worked|was successful|is done|completed)/.test(after)
    return word.startsWith('origin/') && clause[at - 1] === 'on' && /^(?:is|are|now)$/.test(clause[at - 2] ?? '')
  }
}
