import { findChangedFiles } from './changed-files.ts'
import { claimsPush } from './push-claims.ts'
import { sentencesOf } from './sentences.ts'
import { admitsFailures, deniesRunning, testsClaim } from './test-claims.ts'

/** A claim of a final message that a record can contradict. */
export type Claim =
  /** `ran`: only that tests were run, not how they ended. */
  | { readonly kind: 'tests'; readonly says: 'pass' | 'ran'; readonly about: 'tests' | 'checks'; readonly text: string }
  | { readonly kind: 'push'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly gone: boolean; readonly text: string }

/** Finds claims about test runs, pushes and changed files. Hopes, denials and requests are no claims. */
export function findClaims(message: string): readonly Claim[] {
  const sentences = sentencesOf(message)
  // A message that says that some tests fail, or that nothing was run, describes the results of others.
  const admits = sentences.some(
    (sentence, at) => admitsFailures(sentence, sentences[at - 1]) || deniesRunning(sentence),
  )
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
