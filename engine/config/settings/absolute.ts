import { isAbsolute } from 'node:path'
import * as z from 'zod'

/** A path that means the same wherever it is set. */
export const absolute = z
  .string()
  .refine(
    (path) => isAbsolute(path) || path === '~' || path.startsWith('~/'),
    'must be an absolute path, or start with ~/',
  )
