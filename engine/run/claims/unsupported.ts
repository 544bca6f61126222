import type { UnsupportedClaim } from '../../core/events.ts'
import { truncateMiddle } from '../../core/text/truncate.ts'
import { withoutOthersWork } from './attributed.ts'
import { isAnyIn, mayTellAbroad, mayTellOfPushes, mayTellOfTests } from './may-claim.ts'
import { filesNamedIn } from './named-paths.ts'
import { longestQuote } from './quoted.ts'
import type { KnownOfRun } from './run-evidence.ts'
import { sentencesOf } from './sentences.ts'

const mostTold = 20

/**
 * Finds claims in a final message that the record contradicts, for example that tests pass, although their last run failed or never happened; that
 * something was pushed, although the push was denied, failed, or was never tried; that unchanged files were changed, or changed ones were left alone.
 * The rules cover English, and some phrases of other languages.
 *
 * The rules for each kind of claim are loaded only if the run did something of that kind or the message may contain such a claim, because V8 needs
 * some milliseconds to compile their patterns.
 */
export async function unsupportedClaims(message: string, known: KnownOfRun): Promise<readonly UnsupportedClaim[]> {
  const sentences = sentencesOf(message)
  const told: UnsupportedClaim[] = []
  if (known.tests.length > 0 || isAnyIn(sentences, mayTellOfTests, mayTellAbroad)) {
    const { ofTests } = await import('./unsupported-tests.ts')
    told.push(...ofTests(sentences, known))
  }
  if (known.pushes.length > 0 || isAnyIn(sentences, mayTellOfPushes, mayTellAbroad)) {
    const { ofPushes } = await import('./unsupported-pushes.ts')
    told.push(...ofPushes(withoutOthersWork(sentences), known))
  }
  if (
    known.changed.length > 0 ||
    known.refused.length > 0 ||
    sentences.some(({ text }) => filesNamedIn(text).length > 0)
  ) {
    const { ofFiles } = await import('./unsupported-files.ts')
    told.push(...ofFiles(withoutOthersWork(sentences), known))
  }
  return told.slice(0, mostTold).map((each) => ({ ...each, text: truncateMiddle(each.text, longestQuote).text }))
}
