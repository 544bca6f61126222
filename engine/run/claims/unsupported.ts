import type { UnsupportedClaim } from '../../core/events.ts'
import { truncateMiddle } from '../../core/text/truncate.ts'
import type { RunRecord } from './run-evidence.ts'
import { findClaims, type Claim } from './find-claims.ts'

/** The known actions of a run. */
export type KnownOfRun = RunRecord & {
  /** Absolute paths of files that it changed. */
  readonly changed: readonly string[]
  /** Whether a file was written since the run began, or is missing: files that git ignores are missing in the list of changes. */
  readonly isTouched: (path: string) => 'written' | 'absent' | 'as-before'
  /** The run continues a session: the message may describe earlier runs, so only what this run contradicts is reported. */
  readonly goesOn: boolean
}

const mostTold = 20
const longestQuote = 200

/**
 * Claims of a final message that the record contradicts: that tests pass where their last run failed or there was none, that something was
 * pushed where the push was denied, failed or never tried, that files were changed that are unchanged. Found by rules, in English;
 * sentences that they don't understand are not reported.
 */
export function unsupportedClaims(message: string, known: KnownOfRun): readonly UnsupportedClaim[] {
  const told = findClaims(message).flatMap((claim): readonly UnsupportedClaim[] => {
    const why = contradiction(claim, known)
    return why === undefined ? [] : [{ claim: claim.kind, text: truncateMiddle(claim.text, longestQuote).text, why }]
  })
  return told.slice(0, mostTold)
}

function contradiction(claim: Claim, known: KnownOfRun): string | undefined {
  switch (claim.kind) {
    case 'tests':
      return claim.says === 'ran'
        ? notRun(known)
        : notPassed(meantBy(claim.text, known[claim.about]), claim.about, known.goesOn)
    case 'push':
      return notPushed(known)
    case 'file':
      return known.goesOn || isChanged(claim.path, claim.gone, known)
        ? undefined
        : `${claim.path} is as it was before the run`
    default:
      return claim satisfies never
  }
}

/** If a claim quotes a command that ran, the claim is about that command. */
function meantBy(text: string, runs: RunRecord['tests']): RunRecord['tests'] {
  const quotes = [...text.matchAll(/`([^`]{3,200})`/g)].map(([, quote = '']) => quote)
  const meant = runs.filter(({ command }) => quotes.some((quote) => command.includes(quote)))
  return meant.length > 0 ? meant : runs
}

function notRun({ tests, goesOn }: KnownOfRun): string | undefined {
  const ran = tests.some(({ outcome }) => outcome !== 'refused')
  return ran || goesOn ? undefined : 'no command of the run ran tests'
}

function notPassed(runs: RunRecord['tests'], about: 'tests' | 'checks', goesOn: boolean): string | undefined {
  const last = runs.at(-1)
  if (last === undefined) return goesOn ? undefined : `no command of the run ran ${about}`
  if (last.outcome === 'failed') return `the last command that ran ${about} failed: ${quoted(last.command)}`
  if (last.outcome === 'empty') return `the last command that ran ${about} found none to run: ${quoted(last.command)}`
  return last.outcome === 'refused'
    ? `the last command that would have run ${about} was refused: ${quoted(last.command)}`
    : undefined
}

function notPushed({ pushes, goesOn }: KnownOfRun): string | undefined {
  if (pushes.some(({ outcome }) => outcome === 'ok' || outcome === 'unknown')) return undefined
  const last = pushes.at(-1)
  if (last === undefined) return goesOn ? undefined : 'no command of the run pushed anything'
  return `the push ${last.outcome === 'refused' ? 'was refused' : 'failed'}: ${quoted(last.command)}`
}

function quoted(command: string): string {
  return truncateMiddle(command.replaceAll('\n', ' '), longestQuote).text
}

function isChanged(path: string, gone: boolean, { changed, isTouched }: KnownOfRun): boolean {
  const named = path.replace(/^(?:\.\/)+/, '')
  if (named.endsWith('/'))
    return changed.some((each) => each.includes(`/${named}`)) || isDirectoryTouched(named, gone, isTouched)
  const suffix = `/${named}`
  if (changed.some((each) => each === named || each.endsWith(suffix) || suffix.endsWith(`/${lastOf(each, named)}`)))
    return true
  const state = isTouched(named)
  return state === 'written' || (gone && state === 'absent')
}

function isDirectoryTouched(named: string, gone: boolean, isTouched: KnownOfRun['isTouched']): boolean {
  const state = isTouched(named.slice(0, -1))
  return state === (gone ? 'absent' : 'written')
}

/** The end of a changed file's path that a longer name may share: a name may begin above the workspace. */
function lastOf(changed: string, named: string): string {
  const depth = named.split('/').length
  return changed
    .split('/')
    .slice(-Math.max(2, depth - 1))
    .join('/')
}
