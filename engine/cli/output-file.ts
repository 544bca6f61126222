import { resolve } from 'node:path'
import { holdOutput } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Opens the destination of `-o` before anything runs. A file or link that a command puts there in the meantime is replaced; a link isn't followed.
 *
 * @returns a function that writes the message and returns undefined; if writing fails, it returns the reason
 * @throws UserError `usage` with the path and the problem
 */
export function openOutputFile(file: string): (message: string) => string | undefined {
  const failure = (error: unknown): string => `-o ${resolve(file)}: can't be written: ${(error as Error).message}`
  try {
    const output = holdOutput(file)
    return (message) => {
      try {
        output.write(message)
        return undefined
      } catch (error) {
        return failure(error)
      }
    }
  } catch (error) {
    throw new UserError('usage', failure(error), { cause: error })
  }
}

/**
 * Writes a file that the user named: a new file or a regular one, and never one that a link leads to.
 *
 * @param what what the file contains, for the message
 * @param closed whether a new file may be read only by this user. Default: false
 * @throws UserError `usage` with the path and the problem
 */
export function writeOutputFile(file: string, text: string, what: string, closed = false): void {
  try {
    holdOutput(file, closed).write(text)
  } catch (error) {
    throw new UserError('usage', `${resolve(file)}: ${what} can't be written there: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
