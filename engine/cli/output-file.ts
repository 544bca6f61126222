import { resolve } from 'node:path'
import { holdOutput } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Takes hold, before anything runs, of where `-o` says that the last message is written. What commands put there meanwhile is replaced, and no
 * link of theirs followed.
 *
 * @returns what writes the message: it gives why the file can't be written any more; undefined where it was
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
