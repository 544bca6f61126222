import process from 'node:process'
import { finishReviews, renderDenial, SandboxError } from '../../sandbox/index.ts'
import { UserError } from '../user-error.ts'

/**
 * Finishes the reviews that killed runs owed, before anything is read that their commands may have planted, configuration included.
 * Says on stderr what was found.
 *
 * @throws UserError `sandboxUnavailable` where that can't be done
 */
export async function finishReviewsFirst(): Promise<void> {
  try {
    for (const denial of await finishReviews()) {
      process.stderr.write(`agent: a run was killed before it could say this: ${renderDenial(denial)}\n`)
    }
  } catch (error) {
    if (!SandboxError.is(error, 'unreviewed')) throw error
    throw new UserError('sandboxUnavailable', error.message, { cause: error })
  }
}
