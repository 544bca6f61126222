import { finishReviews, renderDenial, SandboxError } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Finishes the reviews that were left incomplete when a run was killed. This must happen before the program reads any file that the commands of such a run may
 * have planted, including its configuration.
 *
 * @param tell receives the findings, one sentence each
 * @throws UserError `sandboxUnavailable` if a review can't be finished
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

/**
 * Finishes the reviews that were left incomplete when a run was killed, if possible. A failure is not reported here, so callers must not read files that
 * commands could have planted. The next subcommand of this program that reads such files reports the failure.
 */
export async function finishReviewsIfPossible(tell: (sentence: string) => void): Promise<void> {
  try {
    await finishReviewsFirst(tell)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
