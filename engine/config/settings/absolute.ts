import { isAbsolute } from 'node:path'
import * as z from 'zod'

/** A path that means the same in every file: an absolute path, or one below the home directory. */
export const absolute = z
  .string()
  .refine(
    (path) => isAbsolute(path) || path === '~' || path.startsWith('~/'),
    'must be an absolute path, or start with ~/',
  )
