import { errnoOf } from './commit-error.ts'

/**
 * Tries something once more when a system call of it fails: errors of one moment (an interrupted call, a full queue)
 * must not leave behind what a second try clears away.
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
