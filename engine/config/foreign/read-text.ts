import { realpathSync } from 'node:fs'
import { isInside } from '../../core/directories-between.ts'
import { readPlainFile } from '../../core/read-plain-file.ts'

/** The default size limit for a settings or rules file of another program, in bytes. */
const mebibyte = 1024 * 1024

/**
 * Reads the text of another program's file. Follows links, and never blocks on a pipe.
 *
 * @param how `within`: a folder that must contain the real path; absent: any path is allowed. `maxBytes`: longer files are not read; by
 *   default 1 MiB
 * @returns the text; undefined if the file doesn't exist; or why it can't be read
 */
export function readForeignText(
  path: string,
  { within, maxBytes = mebibyte }: { readonly within?: string | undefined; readonly maxBytes?: number } = {},
): string | { readonly reason: string } | undefined {
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { reason: `it can't be read: ${message}` }
  }
  if (within !== undefined && !isInside(real, within))
    return { reason: `it is a link to ${real}, which is outside ${within}` }
  return readPlainFile(real, maxBytes)
}
