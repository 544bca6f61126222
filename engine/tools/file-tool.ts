import { resolve } from 'node:path'
import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import { FileError } from './files/open-files.ts'
import type { Action } from '../../policies/index.ts'
import type { ToolContext, ToolPlace } from './tool.ts'
import type { ToolResult } from './tool-result.ts'
import { counted } from '../core/text/counted.ts'

/** The maximum size of a file that the file tools read, in bytes. Larger files have to be read with a command. */
export const largestFile = 32 * 1024 * 1024

/** The properties that all tools for reading files share: they change nothing, and the Guardian reviews the path. */
export const reading = {
  readOnly: () => true,
  concurrencySafe: () => true,
  action: ({ path = '.' }: { readonly path?: string | undefined }, { workspace }: ToolPlace): ReadAction => ({
    type: 'read',
    path: resolve(workspace, path),
  }),
}

type ReadAction = Extract<Action, { type: 'read' }>

/** Runs a function that reads files. If it throws a `FileError`, returns a failed result with the error's message. */
export async function orFileError(run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof FileError) return { ok: false, output: escapeInvisibleInLine(error.message) }
    throw error
  }
}

/** Returns the found files whose content may be shown, with a note about those that the Guardian withholds. */
export function readable<Found extends { readonly path: string }>(
  found: readonly Found[],
  { guardian }: ToolContext,
): { readonly shown: readonly Found[]; readonly note: string } {
  const shown = found.filter(({ path }) => guardian.assess({ type: 'read', path }).decision === 'allow')
  const kept = found.length - shown.length
  return {
    shown,
    note:
      kept === 0
        ? ''
        : `\n(${counted(kept, 'file is', 'files are')} not shown, because reading ${kept === 1 ? 'it' : 'them'} is not allowed.)`,
  }
}
