import { finishReviews, renderDenial, SandboxError } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Reviews what the commands of killed runs changed. Files that these commands planted for the host to execute are moved into quarantine. This must
 * happen before the program reads any file that may have been planted, including its configuration.
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
 * If possible, reviews what the commands of killed runs changed, as `finishReviewsFirst` does. A failure is not reported here, so callers must not read files
 * that these commands could have planted. The next subcommand of this program that reads such files reports the failure.
 */
export async function finishReviewsIfPossible(tell: (sentence: string) => void): Promise<void> {
  try {
    await finishReviewsFirst(tell)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
