import type { Failure } from '../patch-error.ts'
import type { Mode } from '../patch.ts'
import type { WarningList } from './warning-list.ts'

/** The context in which an update is planned. `updateLines` adds warnings and failures to its lists. */
export type UpdateContext = {
  readonly mode: Mode
  readonly ambiguous: 'first' | 'refuse'
  readonly warnings: WarningList
  readonly failures: Failure[]
  /** Returns the contents of the other files that the patch updates. If a chunk doesn't match, they are searched for its lines, to explain why. */
  readonly otherFiles: (path: string) => readonly { readonly path: string; readonly bytes: Buffer }[]
}
