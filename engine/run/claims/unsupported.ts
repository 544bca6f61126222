import type { UnsupportedClaim } from '../../core/events.ts'
import { truncateMiddle } from '../../core/text/truncate.ts'
import { beyond } from './beyond-runs.ts'
import type { Deed, RunRecord } from './run-evidence.ts'
import { findFileClaims } from './file-claims.ts'
import { findMiscounts } from './miscounts.ts'
import { findPushClaims } from './push-claims.ts'
import { sentencesOf, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'
import { findTestClaims } from './test-claims.ts'
import { findUntouchedClaims } from './untouched-claims.ts'

/** The known actions of a run. */
export type KnownOfRun = RunRecord & {
  /** Absolute paths of files that it changed. */
  readonly changed: readonly string[]
  /** The folder that its paths are told from. */
  readonly workspace: string
  /** Whether a file was written since the run began, or is missing: files that git ignores are missing in the list of changes. */
  readonly isTouched: (path: string) => 'written' | 'absent' | 'as-before'
  /** The run continues a session: the message may describe earlier runs, so only what this run contradicts is reported. */
  readonly goesOn: boolean
}

const mostTold = 20
const longestQuote = 200

/**
 * Claims of a final message that the record contradicts: that tests pass where their last run failed or there was none, that something was
 * pushed where the push was denied, failed or never tried, that files were changed that are unchanged. The record comes first: only where it
 * could be contradicted is the message read for that, by rules, in English and by few words of other languages.
 */
export function unsupportedClaims(message: string, known: KnownOfRun): readonly UnsupportedClaim[] {
  const sentences = sentencesOf(message)
  const told = [...ofTests(sentences, known), ...ofPushes(sentences, known), ...ofFiles(sentences, known)]
  return told.slice(0, mostTold).map((each) => ({ ...each, text: truncateMiddle(each.text, longestQuote).text }))
}

/** That tests ran without the change, too. */
const baseline = pattern(
  String.raw`\bi (?:\w+ )?(?:stashed|git stash\w*)\b.*\b(?:ran|run|rerun|reran|re-ran|tests?|suite|same|fail\w*)\b`,
)

function ofTests(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { tests, goesOn } = known
  const last = tests.at(-1)
  if (last === undefined && goesOn) return []
  const told = (text: string, why: string | undefined): readonly UnsupportedClaim[] =>
    why === undefined ? [] : [{ claim: 'tests', text, why }]
  const names = [...new Set(tests.flatMap(({ command }) => programsOf(command)))]
  if (last !== undefined && (last.outcome === 'ok' || last.outcome === 'unknown')) {
    return findTestClaims(sentences, 'none', names).flatMap(({ text }) => told(text, beyond(text, tests)))
  }
  const ran = tests.some(({ outcome }) => outcome !== 'refused')
  const isOfOthers = mentions(known.succeeded)
  const contradicted = findTestClaims(sentences, ran ? 'failed' : 'none', names).flatMap(({ says, text }) => {
    if ((says === 'ran' && ran) || (!ran && isOfOthers(text))) return []
    // A message about what was only looked at explains how tests behave.
    if (!ran && known.changed.length === 0 && !/\b(?:ran|run|running|executed|tested|verified|now|\d+)\b/i.test(text))
      return []
    const meant = meantBy(text, tests)
    return told(text, meant === undefined ? 'no command of the run ran tests' : whyNot(meant))
  })
  if (contradicted.length > 0 || last?.outcome !== 'failed') return contradicted
  if (!tests.some(({ command }) => /stash/.test(command)) && !known.succeeded.some((each) => /stash/.test(each))) {
    const stashed = sentences.find(({ plain }) => baseline.test(plain))
    if (stashed !== undefined && tests.length === 1)
      return told(stashed.text, 'the tests ran once, and nothing was stashed')
  }
  return findMiscounts(sentences, tests).map((each) => ({ claim: 'tests', ...each }))
}

/** Whether a sentence tells of one of these commands, by the program or as quoted. */
function mentions(commands: readonly string[]): (text: string) => boolean {
  const names = new Set(commands.flatMap(programsOf).filter((name) => !readers.test(name)))
  return (text) => {
    if (/\b(?:tests?|suites?|specs|test cases)\b/i.test(text)) return false
    const plain = ` ${text.toLowerCase().replaceAll(/[`'"():,;]/g, ' ')} `
    return [...names].some((name) => plain.includes(` ${name} `))
  }
}

/** If a claim quotes a command that ran, the claim is about that command; otherwise about the last one. */
function meantBy(text: string, runs: RunRecord['tests']): Deed | undefined {
  const quotes = [...text.matchAll(/`([^`]{3,200})`/g)].map(([, quote = '']) => quote)
  return runs.findLast(({ command }) => quotes.some((quote) => command.includes(quote))) ?? runs.at(-1)
}

function whyNot({ outcome, command }: Deed): string | undefined {
  switch (outcome) {
    case 'failed':
      return `the last command that ran tests failed: ${quoted(command)}`
    case 'empty':
      return `the last command that ran tests found none to run: ${quoted(command)}`
    case 'refused':
      return `the last command that would have run tests was refused: ${quoted(command)}`
    case 'ok':
    case 'unknown':
      return undefined
    default:
      return outcome satisfies never
  }
}

/** Programs that prove nothing of a test. */
const readers = /^(?:cat|ls|cd|sed|grep|rg|git|git \w+|head|tail|find|echo|cat \S+|mkdir|cp|mv|rm)\b/
const common =
  /^(?:npm|npx|pnpm|yarn|bun|run|test|tests|exec|bundle|python3?|uv|poetry|sh|bash|node|make|go|just|sudo|env|cd|then|true|false)$/

/** The names by which a message may call a command: `prove`, `dbt build`, `just test`. */
function programsOf(command: string): readonly string[] {
  const [first = '', second = ''] = command
    .replace(/^\S*bash -lc '/, '')
    .split(/[\s']+/)
    .filter((word) => !/[=&|;<>()]/.test(word) && !word.startsWith('-'))
  const name = first.slice(first.lastIndexOf('/') + 1).toLowerCase()
  return [
    ...(common.test(name) || name.length < 3 ? [] : [name]),
    ...(second === '' ? [] : [`${name} ${second.toLowerCase()}`]),
  ]
}

function ofPushes(sentences: readonly Sentence[], { pushes, goesOn }: KnownOfRun): readonly UnsupportedClaim[] {
  const isThere = ({ outcome }: Deed): boolean => outcome === 'ok' || outcome === 'unknown'
  // A branch may have been pushed, and the request to merge it refused.
  const requests = pushes.filter(({ command }) => /\b(?:pr|mr) (?:create|merge)\b/.test(command))
  const isMixed = pushes.some(isThere)
  if (isMixed && (requests.length === 0 || requests.slice(-1).some(isThere))) return []
  const last = (isMixed ? requests : pushes).at(-1)
  if (last === undefined && goesOn) return []
  const remotes = pushes.flatMap(
    ({ command }) => /\bpush(?: -\S+)* ([a-z][\w-]{2,40})\b/.exec(command.slice(0, 1024))?.[1]?.toLowerCase() ?? [],
  )
  const why =
    last === undefined
      ? 'no command of the run pushed anything'
      : `the push ${last.outcome === 'refused' ? 'was refused' : 'failed'}: ${quoted(last.command)}`
  const registries = pushes.flatMap(({ command }) => registriesOf(command))
  const about = isMixed ? 'request' : registries.length > 0 ? 'registry' : 'remote'
  const found = findPushClaims(sentences, [...remotes, ...registries], last !== undefined && !isMixed, about)
  return found.map((text) => ({ claim: 'push', text, why }))
}

/** What a message may call the place that a command publishes to. */
function registriesOf(command: string): readonly string[] {
  if (/\b(?:docker|podman|buildah|nerdctl|crane|skopeo|helm|oras)\b/.test(command))
    return ['registry', 'docker hub', 'dockerhub', 'ghcr\\.io', 'quay\\.io']
  if (/\b(?:npm|pnpm|yarn|bun|lerna|jsr) publish\b/.test(command)) return ['npm', 'npmjs\\S*', 'registry', 'jsr']
  if (/\b(?:twine|flit|hatch|poetry|uv|pdm)\b/.test(command)) return ['pypi', 'testpypi', 'registry', 'package index']
  if (/\bcargo publish\b/.test(command)) return ['crates\\.io', 'registry']
  if (/\bgem push\b/.test(command)) return ['rubygems\\S*', 'registry']
  return /\b(?:publish|release|deploy|upload)/.test(command)
    ? [
        'registry',
        'production',
        'prod',
        'staging',
        'live',
        'maven central',
        'nexus',
        'artifactory',
        'hex\\.pm',
        'nuget\\S*',
      ]
    : []
}

const reviewing = pattern(
  String.raw`^\W*(?:code )?review (?:of|for)\b|\bi (?:only |have )?(?:read|reviewed) (?:through )?(?:the|your|this) (?:diff|branch|pr|changes|pull request|merge request|patch)\b`,
)

function ofFiles(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { changed, workspace, goesOn } = known
  const inside = changed.map((path) => (path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path))
  const untouched = findUntouchedClaims(sentences, inside).map(({ path, text }) => ({
    claim: 'file' as const,
    text,
    why: `${path} was changed`,
  }))
  if (goesOn) return untouched
  // A review tells in the passive voice what somebody else did.
  const named = findFileClaims(sentences, (path) => isChanged(path, known))
  const isReview = named.length > 0 && changed.length === 0 && sentences.some(({ plain }) => reviewing.test(plain))
  const own = isReview ? named.filter(({ text }) => /\b(?:I|I've|we|We)\b/.test(text)) : named
  const asBefore = own.map(({ path, text }) => ({
    claim: 'file' as const,
    text,
    why: `${path} is as it was before the run`,
  }))
  return [...asBefore, ...untouched]
}

function quoted(command: string): string {
  return truncateMiddle(command.replaceAll('\n', ' '), longestQuote).text
}

function isChanged(path: string, { changed, isTouched }: KnownOfRun): boolean {
  const named = path.replace(/^(?:\.\/)+/, '')
  if (named.endsWith('/'))
    return changed.some((each) => each.includes(`/${named}`)) || isTouched(named.slice(0, -1)) !== 'as-before'
  const suffix = `/${named}`
  if (changed.some((each) => each === named || each.endsWith(suffix) || suffix.endsWith(`/${lastOf(each, named)}`)))
    return true
  return isTouched(named) === 'written'
}

/** The end of a changed file's path that a longer name may share: a name may begin above the workspace. */
function lastOf(changed: string, named: string): string {
  const depth = named.split('/').length
  return changed
    .split('/')
    .slice(-Math.max(2, depth - 1))
    .join('/')
}
