import { errnoOf } from './commit-error.ts'

/**
 * Tries an operation once more if one of its system calls fails. Otherwise, a temporary error (an interrupted call, a full queue) would leave files
 * behind that a second attempt can remove.
 *
 * @returns whether it worked
 */
export function retryOnce(act: () => void): boolean {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      act()
      return true
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
    }
  }
  return false
}
