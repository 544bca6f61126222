import { existsSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectories } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Replaces a file of the user's configuration atomically, or creates it. If it is a link, its target is replaced.
 *
 * @throws UserError `usage` if the file can't be written
 */
export function replaceUserFile(file: string, text: string): void {
  try {
    makeDirectories(dirname(file))
    const real = existsSync(file) ? realpathSync(file) : file
    const mode = existsSync(real) ? statSync(real).mode & 0o777 : 0o600
    const temporary = `${real}.${process.pid}.tmp`
    writeFileSync(temporary, text, { mode, flag: 'wx' })
    renameSync(temporary, real)
  } catch (error) {
    throw new UserError('usage', `${file}: can't be written: ${(error as Error).message}`, { cause: error })
  }
}
