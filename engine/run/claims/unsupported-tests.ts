import type { UnsupportedClaim } from '../../core/events.ts'
import { beyond } from './beyond-runs.ts'
import { claimedRuns } from './claimed-runs.ts'
import { quoted } from './quoted.ts'
import type { Deed, KnownOfRun, RunRecord } from './run-evidence.ts'
import { findMiscounts } from './miscounts.ts'
import { namedRuns } from './kinds-of-tests.ts'
import { isStatement, spacedWords, type Sentence } from './sentences.ts'
import { counted } from '../../core/text/counted.ts'
import { pattern } from './word-patterns.ts'
import { findTestClaims } from './test-claims.ts'

/** A claim that tests were also run without the change. */
const baseline = pattern(
  String.raw`\bi (?:\w+ )?(?:stashed|git stash\w*)\b.*\b(?:ran|run|rerun|reran|re-ran|tests?|suite|same|fail\w*)\b`,
)

/** Finds claims about tests that the record contradicts. */
export function ofTests(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { tests, goesOn } = known
  const last = tests.at(-1)
  if (last === undefined && goesOn) return []
  const told = (text: string, why: string | undefined): readonly UnsupportedClaim[] =>
    why === undefined ? [] : [{ claim: 'tests', text, why }]
  const names = [...new Set(tests.flatMap(({ command }) => programsOf(command)))]
  if (last !== undefined && (last.outcome === 'ok' || last.outcome === 'unknown')) {
    const beyondRuns = findTestClaims(sentences, 'none', names).flatMap(({ says, text }) =>
      told(text, (says === 'pass' ? failedByName(text, tests) : undefined) ?? beyond(text, tests)),
    )
    return beyondRuns.length > 0 ? beyondRuns : [...skips(sentences, tests), ...claimedRuns(sentences, known)]
  }
  const ran = tests.some(({ outcome }) => outcome !== 'refused')
  const isOfOthers = mentions(known.succeeded)
  const contradicted = findTestClaims(sentences, ran ? 'failed' : 'none', names).flatMap(
    ({ says, text, isBesideAdmission = false }) => {
      if (isBesideAdmission && ran && namedRuns(text, tests).length === 0) return []
      if ((says === 'ran' && ran) || (!ran && (isOfOthers(text) || isAboutSyntax(text, sentences)))) return []
      if (!ran && onServer.test(text) && known.succeeded.some((each) => asksServer.test(each))) return []
      // If the run changed nothing and ran no tests, a sentence without words such as "ran" or "tested" probably explains how the tests behave.
      if (!ran && known.changed.length === 0 && !/\b(?:ran|run|running|executed|tested|verified|now|\d+)\b/i.test(text))
        return []
      const meant = meantBy(text, tests)
      return told(text, meant === undefined ? 'no command in the run ran tests' : whyNot(meant, tests))
    },
  )
  if (contradicted.length > 0 || last?.outcome !== 'failed') return contradicted
  if (!tests.some(({ command }) => /stash/.test(command)) && !known.succeeded.some((each) => /stash/.test(each))) {
    const stashed = sentences.find(({ plain }) => baseline.test(plain))
    if (stashed !== undefined && tests.length === 1)
      return told(stashed.text, 'the tests ran once, and nothing was stashed')
  }
  const others = claimedRuns(sentences, known)
  if (others.length > 0) return others
  return findMiscounts(sentences, tests).map((each) => ({ claim: 'tests', ...each }))
}

/** Matches a claim that no test was skipped. */
const noneSkipped = pattern(
  String.raw`\b(?:none|nothing|0|zero|no tests?|not one)(?: tests?)?(?: (?:was|were|is|are|got|had to be))? skipped(?=$|[.,;!)—–]| (?:and|or|so)\b)|\b(?:no|zero|0|without(?: any)?) (?:skips|skipped tests)\b(?=$|[.,;!)—–]| (?:and|or|so)\b)`,
)
/** Words that limit the claim "no test was skipped" to some of the tests, or to an earlier run. */
const someOfThem = pattern(
  String.raw`\b(?:new|other|else|more|further|of (?:these|them|those|mine|my|the)|in|before|earlier|at first|should|would|if|when|once|\w+n't|not)\b`,
)

/** Finds a claim that no test was skipped, if every run reported skipped tests and no other sentence mentions them. */
function skips(sentences: readonly Sentence[], runs: readonly Deed[]): readonly UnsupportedClaim[] {
  const tried = runs.filter(({ outcome }) => outcome !== 'refused')
  const count = tried.at(-1)?.skipped ?? 0
  const speaking = sentences.filter(({ plain }) => /\bskip/.test(plain))
  const [said] = speaking
  if (said === undefined || speaking.length > 1 || tried.some(({ skipped = 0 }) => skipped === 0)) return []
  if (!isStatement(said) || !noneSkipped.test(said.plain)) return []
  const clauses = said.clauses.filter((clause) => /\bskip/.test(clause))
  if (clauses.some((clause) => someOfThem.test(clause) && !/\bnot one\b/.test(clause))) return []
  return [
    {
      claim: 'tests',
      text: said.text,
      why: `the last command that ran tests reported ${counted(count, 'skipped test')}`,
    },
  ]
}

/** Whether a sentence is about a check of the syntax of test files, and doesn't also say that the tests pass. */
function isAboutSyntax(text: string, all: readonly Sentence[]): boolean {
  if (testsPass.test(text)) return false
  // "I checked the test with `php -l`; no problems." counts as two sentences, so the sentence before the claim is checked, too.
  const before = /\b(?:tests?|suite|specs?)\b/i.test(text)
    ? ''
    : all[all.findIndex((each) => each.text === text) - 1]?.text
  return syntax.test(text) || syntax.test(before ?? '')
}
const syntax = pattern(
  String.raw`\bphp -l\b|\b(?:ruby|perl|node) -\w*c\b|\bnode --check\b|\b(?:bash|sh) -n\b|\bpy_compile\b|\bcompileall\b|\bsyntax\b|\bparses?\b`,
  'i',
)
const testsPass = pattern(
  String.raw`\b(?:tests?|suite|specs?|they)(?: \w+){0,2} (?:pass\w*|succeed\w*|(?:is|are) (?:all )?green|went through|ran)\b`,
  'i',
)

/** Words for a test run on a server, and commands that show such runs. */
const onServer = /\b(?:ci|pipelines?|workflows?|checks?|jobs?|builds?|actions|runs?)\b/i
const asksServer = pattern(
  String.raw`\bgh (?:run|pr|workflow|api)\b|\bglab (?:ci|pipeline|mr)\b|\bcurl\b.*\b(?:runs|pipelines|builds|checks)\b`,
)

/** Returns a function that tells whether a sentence is about one of the given commands: it names the command's program and doesn't mention tests. */
function mentions(commands: readonly string[]): (text: string) => boolean {
  const names = new Set(commands.flatMap(programsOf).filter((name) => !readers.test(name)))
  return (text) => {
    if (/\b(?:tests?|suites?|specs|test cases)\b/i.test(text)) return false
    const spaced = spacedWords(text)
    return [...names].some((name) => spaced.includes(` ${name} `))
  }
}

/**
 * Returns the test run that a claim is about. If the claim names several runs by their commands or by the kinds of their tests, one that contradicts
 * it is preferred. If it names none, the last run is returned.
 */
function meantBy(text: string, runs: RunRecord['tests']): Deed | undefined {
  const named = namedRuns(text, runs)
  return named.find((each) => whyNot(each, runs) !== undefined) ?? named[0] ?? runs.at(-1)
}

/** Why a claim is wrong although the last test run passed: the claim names another run, which failed. */
function failedByName(text: string, runs: RunRecord['tests']): string | undefined {
  const failed = namedRuns(text, runs).find(({ outcome }) => outcome === 'failed')
  return failed === undefined ? undefined : whyNot(failed, runs)
}

/** Why a claim about one of the test runs is wrong; undefined if it may be right. */
function whyNot(run: Deed, runs: RunRecord['tests']): string | undefined {
  const { outcome, command } = run
  const isLast = run === runs.at(-1)
  switch (outcome) {
    case 'failed':
      return `${isLast ? 'the last command that ran tests' : 'the last run of these tests'} failed: ${quoted(command)}`
    case 'empty':
      return `${isLast ? 'the last test command' : 'the last run of these tests'} found no tests to run: ${quoted(command)}`
    case 'refused':
      return `the last command that would have run ${isLast ? '' : 'these '}tests was refused: ${quoted(command)}`
    case 'ok':
    case 'unknown':
      return undefined
    default:
      return outcome satisfies never
  }
}

/** Programs whose success proves nothing about tests. */
const readers = /^(?:cat|ls|cd|sed|grep|rg|git|git \w+|head|tail|find|echo|cat \S+|mkdir|cp|mv|rm)\b/
/** Names of general-purpose programs, and of languages. Such a name alone doesn't show that tests were run. */
const common: ReadonlySet<string> = new Set(
  `bash bun bundle cd deno env exec false go java julia just make node npm npx perl php pnpm poetry python python3 ruby run sh sudo swift test tests then true
   uv yarn`.split(/\s+/),
)

/** The names by which a message may refer to a command: `prove`, `dbt build`, `just test`. */
function programsOf(command: string): readonly string[] {
  const [first = '', second = ''] = command
    .replace(/^\S*bash -lc '/, '')
    .split(/[\s']+/)
    .filter((word) => !/[=&|;<>()]/.test(word) && !word.startsWith('-'))
  const name = first.slice(first.lastIndexOf('/') + 1).toLowerCase()
  return [
    ...(common.has(name) || name.length < 3 ? [] : [name]),
    ...(second === '' ? [] : [`${name} ${second.toLowerCase()}`]),
  ]
}
