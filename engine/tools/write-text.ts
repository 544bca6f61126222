import { isAbsolute, relative, resolve } from 'node:path'
import { planWrite, renderFailure } from '../../apply-patch/index.ts'
import { shownText, sourcePath } from '../../sandbox/index.ts'
import { FileError } from './files/open-files.ts'
import { textOf } from './files/text.ts'
import { commitChanges, isRefusal } from './commit-changes.ts'
import { largestFile } from './file-tool.ts'
import { reviewReading } from './review-reading.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** The current content of a file. */
type CurrentFile =
  | { readonly state: 'absent' }
  | { readonly state: 'text'; readonly text: string; readonly knowledge: 'unseen' | 'same' | 'changed' }
  | { readonly state: 'refused'; readonly result: ToolResult }

/**
 * Before a file is changed, reads it as a command in the sandbox would see it. If the model doesn't know the content yet, and reading it needs approval,
 * the Guardian is asked.
 */
export async function readCurrent(path: string, context: ToolContext): Promise<CurrentFile> {
  try {
    const { bytes, size } = await context.state.files.read(path, largestFile, context.signal)
    const knowledge = bytes.length < size ? 'unseen' : context.state.seen.compare(path, bytes)
    const unread = knowledge === 'same' ? undefined : await reviewReading(path, context)
    if (unread !== undefined) return { state: 'refused', result: unread }
    if (bytes.length < size) return refusedFor(`${path} has ${size} bytes and is too large to edit.`)
    const text = textOf(bytes)
    if (text === undefined) return refusedFor(`${path} is not UTF-8 text.`)
    return { state: 'text', text, knowledge }
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return error.code === 'absent' ? { state: 'absent' } : refusedFor(error.message)
  }
}

function refusedFor(reason: string): CurrentFile {
  return { state: 'refused', result: { ok: false, output: reason } }
}

/** The message for a model that tries to change a file which has changed since it was read. */
export function staleReason(path: string): string {
  return `${path} has changed since you read it. Read it again, then repeat the change.`
}

/**
 * Writes a file the way all changes are made: the change is planned, reviewed by the Guardian, and committed.
 *
 * @param before the content that the new text is based on. If the file has changed since, nothing is written
 * @returns undefined if the file was written; otherwise the result for the call, which is successful if the file already had this content
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
    if (change === undefined) return { ok: true, output: `${path} already has this content; nothing was changed.` }
    const held = change.before.type === 'file' ? change.before.bytes.toString('utf8') : undefined
    if (held !== before) return { ok: false, output: staleReason(path) }
    return (await commitChanges(changeSet, context, started)).refused
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ok: false, output: shownText(renderFailure(error), views) }
  }
}

/** The root that contains a path: the workspace or a writable root. If none contains it, the workspace. */
function rootOf(path: string, { workspace, sandbox }: ToolContext): string {
  const roots = [workspace, ...sandbox.policy.writableRoots]
  const holds = (root: string): boolean => {
    const way = relative(resolve(root), path)
    return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
  }
  return roots.find(holds) ?? workspace
}
