import { isAbsolute } from 'node:path'
import type { PlaceFailure } from '../patch-error.ts'
import { findNearPaths } from '../files/index.ts'
import type { Patch } from '../patch.ts'

/**
 * Why a file that an operation names is missing: an earlier operation removed it, or its path may be misspelt.
 *
 * @param hunk the 1-based number of the operation in the patch
 * @param explain whether to search the tree for files that may have been meant
 */
export function whyMissing(
  { operations }: Patch,
  root: string,
  path: string,
  hunk: number,
  explain: boolean,
): Pick<PlaceFailure, 'reason' | 'detail' | 'near'> {
  for (let index = hunk - 2; index >= 0; index--) {
    const by = operations[index]
    if (by === undefined || by.path !== path) continue
    if (by.type === 'delete') return { reason: 'gone', detail: `hunk ${index + 1} deleted it` }
    const to = by.type === 'update' ? by.moveTo : undefined
    if (to !== undefined) return { reason: 'gone', detail: `hunk ${index + 1} moved it to ${to}` }
  }
  const near = explain && !isAbsolute(path) ? findNearPaths(root, path) : []
  return { reason: 'missing', ...(near.length > 0 && { near }) }
}
