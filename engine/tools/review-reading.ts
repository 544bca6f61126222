import { denied } from './denied-result.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/**
 * Reviews the reading of a file by a tool that changes files. Such a tool quotes lines of the file if a change doesn't match it, and a move makes the content
 * readable under another name. Reading that is allowed anyway is not recorded, because the change itself is reviewed.
 *
 * @param path an absolute path
 * @returns the failed result for the call if the file may not be read; otherwise undefined
 */
export async function reviewReading(path: string, context: ToolContext): Promise<ToolResult | undefined> {
  const action = { type: 'read' as const, path }
  if (context.guardian.assess(action).decision === 'allow') return undefined
  const { verdict, approved } = await context.review(action)
  return approved === undefined ? denied(verdict) : undefined
}
