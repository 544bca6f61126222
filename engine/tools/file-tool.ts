import { resolve } from 'node:path'
import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import { FileError } from './files/open-files.ts'
import type { Action } from '../../policies/index.ts'
import type { ToolContext, ToolPlace } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** The largest file that is read whole, in bytes: bigger ones need a command. */
export const largestFile = 32 * 1024 * 1024

/** The common parts of tools that read files: they change nothing, and the Guardian judges the path. */
export const reading = {
  readOnly: () => true,
  concurrencySafe: () => true,
  action: ({ path = '.' }: { readonly path?: string | undefined }, { workspace }: ToolPlace): ReadAction => ({
    type: 'read',
    path: resolve(workspace, path),
  }),
}

type ReadAction = Extract<Action, { type: 'read' }>

/** Runs what reads files; what can't be read is an ordinary result. */
export async function orFileError(run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof FileError) return { ok: false, output: escapeInvisibleInLine(error.message) }
    throw error
  }
}

/** The files among those found whose content may be shown; the Guardian may withhold some. */
export function readable<Found extends { readonly path: string }>(
  found: readonly Found[],
  { guardian }: ToolContext,
): { readonly shown: readonly Found[]; readonly note: string } {
  const shown = found.filter(({ path }) => guardian.assess({ type: 'read', path }).decision === 'allow')
  const kept = found.length - shown.length
  return {
    shown,
    note: kept === 0 ? '' : `\n(${kept} ${kept === 1 ? 'file is' : 'files are'} not shown: not to be read.)`,
  }
}
