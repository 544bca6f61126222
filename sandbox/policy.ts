import { isAbsolute } from 'node:path'
import { z } from 'zod'

const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path')

/** What a confined command may do. Every list says `[]` for none: there is no "unset". */
export const SandboxPolicy = z.strictObject({
  mode: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
  /** The directory the run works in; writable in workspace-write. */
  workspace: absolutePath,
})

export type SandboxPolicy = z.infer<typeof SandboxPolicy>
