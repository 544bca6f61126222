import { resolve } from 'node:path'
import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { HistoryItem } from '../core/model.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { FileError } from '../tools/files/open-files.ts'
import { largestFile } from '../tools/file-tool.ts'
import { textOf } from '../tools/files/text.ts'
import type { WorkingState } from '../tools/working-state.ts'
import { describeGit, gitState } from './git-state.ts'
import { filesAtHand } from './files-at-hand.ts'

const mostFiles = 5
const mostCharacters = 8000
/** The length to which a file is cut, as a share of the conversation's length. In a long conversation, a file is cut to `mostCharacters` instead. */
const share = 0.1
const mostChanged = 50

/** What is needed to describe the tree. */
type TreeContext = {
  readonly workspace: string
  readonly sandbox: Sandbox
  readonly guardian: Pick<Guardian, 'assess'>
  readonly state: Pick<WorkingState, 'files' | 'mask'>
}

/**
 * Describes the tree for the model when its conversation is compacted, in sections: git's status, and the current contents of the files that the run
 * is working on, so that the model need not read them again. The description contains nothing that a tool could not read.
 *
 * @param history the whole history, from its beginning
 * @param characters about how many characters the conversation had
 */
export async function describeTree(
  history: readonly HistoryItem[],
  characters: number,
  looking: TreeContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { workspace, sandbox, state } = looking
  const most = Math.min(mostCharacters, Math.floor(characters * share))
  const git = await gitState(sandbox, workspace)
  const changed = git?.files.slice(0, mostChanged).map((line) => `\n- ${line}`) ?? []
  const files: string[] = []
  for (const path of filesAtHand(history)) {
    if (files.length === mostFiles) break
    const text = await textAt(resolve(workspace, path), looking, signal)
    if (text !== undefined) files.push(`### ${path}\n${truncateMiddle(text, most).text}`)
  }
  return [
    ...(git === undefined ? [] : [`## Git now\n${describeGit(git)}${changed.join('')}`]),
    ...(files.length === 0 ? [] : [`## Recently used files, as they are now\n${files.map(state.mask).join('\n\n')}`]),
  ]
}

async function textAt(path: string, looking: TreeContext, signal: AbortSignal): Promise<string | undefined> {
  const { guardian, state } = looking
  if (guardian.assess({ type: 'read', path }).decision !== 'allow') return undefined
  try {
    const { bytes, size } = await state.files.read(path, largestFile, signal)
    return bytes.length < size ? undefined : textOf(bytes)
  } catch (error) {
    // The file was removed or moved, or can no longer be read.
    if (error instanceof FileError) return undefined
    throw error
  }
}
