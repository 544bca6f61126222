import { isAbsolute, relative, resolve } from 'node:path'
import { planWrite, renderFailure } from '../../apply-patch/index.ts'
import { shownText, sourcePath } from '../../sandbox/index.ts'
import { FileError } from './files/open-files.ts'
import { textOf } from './files/text.ts'
import { commitChanges, isRefusal } from './commit-changes.ts'
import { largestFile } from './file-tool.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** The current content of a file. */
type CurrentFile =
  | { readonly state: 'absent' }
  | { readonly state: 'text'; readonly text: string; readonly knowledge: 'unseen' | 'same' | 'changed' }
  | { readonly state: 'refused'; readonly reason: string }

/** Reads a file that is to be changed, as a command in the sandbox would. */
export async function readCurrent(path: string, context: ToolContext): Promise<CurrentFile> {
  try {
    const { bytes, size } = await context.state.files.read(path, largestFile, context.signal)
    if (bytes.length < size) return { state: 'refused', reason: `${path} has ${size} bytes, too many to edit.` }
    const knowledge = context.state.seen.compare(path, bytes)
    const text = textOf(bytes)
    if (text === undefined) return { state: 'refused', reason: `${path} is not UTF-8 text.` }
    return { state: 'text', text, knowledge }
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return error.code === 'absent' ? { state: 'absent' } : { state: 'refused', reason: error.message }
  }
}

/** What to tell a model that would change content it doesn't know. */
export function staleReason(path: string): string {
  return `${path} has changed since you read it. Read it again, then make the change anew.`
}

/**
 * Writes a file through the one path: planned, judged by the Guardian, committed.
 *
 * @param before the content that the new text was made from; when the file has changed since, nothing is written
 * @returns why it was not written; undefined when it was
 */
export async function writeText(
  path: string,
  text: string,
  before: string | undefined,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const started = performance.now()
  const { views } = context.sandbox.policy
  try {
    const file = { path: sourcePath(path, views), content: Buffer.from(text) }
    const root = sourcePath(rootOf(path, context), views)
    const changeSet = await planWrite(file, { root, signal: context.signal })
    const [change] = changeSet.changes
    if (change === undefined) return { ok: true, output: `${path} holds just that already; nothing was changed.` }
    const held = change.before.type === 'file' ? change.before.bytes.toString('utf8') : undefined
    if (held !== before) return { ok: false, output: staleReason(path) }
    return await commitChanges(changeSet, context, started)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ok: false, output: shownText(renderFailure(error), views) }
  }
}

/** The root that a path is written in: the workspace, or the writable root that holds it. */
function rootOf(path: string, { workspace, sandbox }: ToolContext): string {
  const roots = [workspace, ...sandbox.policy.writableRoots]
  const holds = (root: string): boolean => {
    const way = relative(resolve(root), path)
    return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
  }
  return roots.find(holds) ?? workspace
}
