import { resolve } from 'node:path'
import { holdOutput } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Opens the destination of `-o` before anything runs. A file that commands put there in the meantime is replaced, and their links are not
 * followed.
 *
 * @returns a function that writes the message; it gives the reason if that fails, else undefined
 * @throws UserError `usage` naming the path and what is wrong with it
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
