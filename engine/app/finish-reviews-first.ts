import { finishReviews, renderDenial, SandboxError } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Finishes the reviews that killed runs left undone, before the program reads files that their commands may have planted, including configuration.
 *
 * @param tell receives the findings, one sentence each
 * @throws UserError `sandboxUnavailable` where that can't be done
 */
export async function finishReviewsFirst(tell: (sentence: string) => void): Promise<void> {
  try {
    for (const denial of await finishReviews()) {
      tell(`a run was killed before it could report this: ${renderDenial(denial)}`)
    }
  } catch (error) {
    if (!SandboxError.is(error, 'unreviewed')) throw error
    throw new UserError('sandboxUnavailable', error.message, { cause: error })
  }
}

/** The same for callers that open nothing that commands could have planted: if it fails, the next command that needs it will report it. */
export async function finishReviewsIfPossible(tell: (sentence: string) => void): Promise<void> {
  try {
    await finishReviewsFirst(tell)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
