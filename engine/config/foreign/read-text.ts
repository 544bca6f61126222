import { realpathSync } from 'node:fs'
import { isInside } from '../../core/directories-between.ts'
import { readPlainFile } from '../../core/read-plain-file.ts'

/** No settings or rules of another program are longer. */
const mebibyte = 1024 * 1024

/**
 * The text of another program's file, through links, without ever waiting for a pipe.
 *
 * @param how `within`: a folder that must really contain it, else it may be anywhere; `maxBytes`: a longer file is not read, by
 *   default 1 MiB
 * @returns undefined where there is none; or why it can't be read
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
  if (within !== undefined && !isInside(real, within)) return { reason: `it leads to ${real}, outside ${within}` }
  return readPlainFile(real, maxBytes)
}
