import { isAbsolute } from 'node:path'
import * as z from 'zod'

/** A path that has the same meaning in every file: an absolute path, or one below the home directory. */
export const absolute = z
  .string()
  .refine(
    (path) => isAbsolute(path) || path === '~' || path.startsWith('~/'),
    'must be an absolute path, or start with ~/',
  )
