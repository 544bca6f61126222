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
