import { realpathSync } from 'node:fs'
import { isInside } from '../../core/paths.ts'
import { readPlainFile } from '../../core/read-plain-file.ts'

/** No settings or rules of another program are longer. */
const maxBytes = 1024 * 1024

/**
 * The text of another program's file, through links, without ever waiting for a pipe.
 *
 * @param within a folder that it must really lie in. Absent: it may lie anywhere
 * @returns undefined where there is none; or why it can't be told
 */
export function readForeignText(path: string, within?: string): string | { readonly reason: string } | undefined {
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { reason: `it can't be read: ${message}` }
  }
  if (within !== undefined && !isInside(real, within)) return { reason: `it leads to ${real}, outside ${within}` }
  return readPlainFile(real, maxBytes)
}
