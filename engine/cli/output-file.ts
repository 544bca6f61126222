import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UserError } from '../user-error.ts'

/**
 * Checks, before anything runs, that the last message can be written where `-o` says. It writes nothing.
 *
 * @throws UserError `usage` naming the path and what is wrong with it
 */
export function checkOutputFile(file: string): void {
  const path = resolve(file)
  try {
    if (existsSync(path)) {
      if (!statSync(path).isFile()) throw new Error('it is not a file')
      accessSync(path, constants.W_OK)
    } else accessSync(dirname(path), constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new UserError('usage', `-o ${path}: can't be written: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * What writes the last message.
 *
 * @returns gives why the file can't be written any more; undefined where it was
 */
export function writeOutputFile(file: string): (message: string) => string | undefined {
  return (message) => {
    try {
      writeFileSync(file, message)
      return undefined
    } catch (error) {
      return `-o ${resolve(file)}: can't be written: ${(error as Error).message}`
    }
  }
}
