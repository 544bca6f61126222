import { errnoOf } from './commit-error.ts'

/**
 * Carries out an operation, and repeats it once if one of its system calls fails. Without the second attempt, a temporary error (an interrupted call, a full
 * queue) would leave files behind.
 *
 * @returns whether one of the attempts succeeded
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
