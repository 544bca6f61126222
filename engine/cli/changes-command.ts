import { CommitError, isApplied, lastApplied, PathError, renderFailure } from '../../apply-patch/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { commitLines, fetchCommand, refLines, refNames, stagedLines } from '../core/text/transaction-lines.ts'
import { UserError } from '../core/user-error.ts'
import {
  kindOf,
  notIgnored,
  removeAllRecords,
  renderPatch,
  type ChangeRecord,
  type RunChange,
} from '../transaction/change-record.ts'
import { closeView } from '../transaction/land.ts'
import { unlandedRepositories } from '../transaction/land-commits.ts'
import { takeBack } from '../transaction/take-back.ts'
import { removeViews } from '../transaction/remove-view.ts'
import {
  isAllReverted,
  isReverted,
  landingsInTrees,
  readViewState,
  stagedIn,
  type NotedLanding,
  type ViewState,
} from '../transaction/view-state.ts'
import { settleUnlocked } from '../transaction/settle-landing.ts'
import { recordOf, withLock } from './changed-session.ts'
import {
  type ChangedSession,
  findChangedSession,
  hintAtNewest,
  type NamedRun,
  sessionThatLanded,
} from './find-session.ts'
import { codeOf, holdSignals, type Interruption } from './interrupts.ts'
import { counted } from '../core/text/counted.ts'
import { writeOutputFile } from './output-file.ts'
import { print, printJson, printResult, tell, rawOutput } from './print.ts'

/** The options of `agent changes`. */
export type ChangesOptions = { readonly diff?: true; readonly json?: true; readonly patch?: string }

/** `agent changes`: shows what a run changed, whether or not the changes have landed. */
export async function changesCommand(run: NamedRun, options: ChangesOptions): Promise<number> {
  const found = findChangedSession(run)
  await settleUnlocked(found.directory)
  const session = { ...found, state: readViewState(found.directory) ?? found.state }
  const record = await recordOf(session)
  const patch = (): string => renderPatch(session.directory, notIgnored(record))
  if (options.patch !== undefined) {
    if (options.patch === '-') rawOutput.stdout.write(patch())
    else writeOutputFile(options.patch, patch(), 'the patch')
    return exitCodes.done
  }
  if (options.diff === true) printResult(patch(), 'text')
  else if (options.json === true) printJson(asJson(session, record))
  else for (const line of linesOf(session, record)) print(line)
  return exitCodes.done
}

/**
 * `agent discard`: discards the changes of a run and removes its private view.
 *
 * @param say prints what happened. Default: on standard output
 */
export async function discardCommand(run: NamedRun, say: typeof print = print): Promise<number> {
  return withLock(findChangedSession(run), 'discard', async ({ id, directory, state }) => {
    if (state.state === 'discarded') {
      say(`Nothing to do: the changes of the session ${id} have already been discarded.`)
      return exitCodes.done
    }
    holdSignals(
      'Interrupted while the changes were being discarded. The program exits as soon as all of them are discarded.',
    )
    closeView(directory, 'discarded')
    await removeViews(directory)
    removeAllRecords(directory)
    const landed = landingsInTrees(state).length > 0
    say(
      landed
        ? `The stored changes were removed. Landed changes stay in the tree. To revert them, run agent undo ${id}.`
        : 'The stored changes were removed. The tree is unchanged.',
    )
    return exitCodes.done
  })
}

/** `agent undo`: reverts the changes that a run landed. */
export async function undoCommand(run: NamedRun): Promise<number> {
  return withLock(findChangedSession(run, isLanded), 'undo', async ({ id, directory, state }) => {
    const { landings, commits = [], refs = [], indexes = [], made = [] } = state
    const inTrees = landingsInTrees(state)
    const ofGit = commits.length + refs.length + indexes.length + made.length
    if (landings.length + ofGit === 0)
      throw new UserError(
        'usage',
        `No changes of the session ${id} have landed, so there is nothing to revert.${hintAtNewest(run, isLanded)}`,
      )
    if (inTrees.length + ofGit === 0) {
      print(`Nothing to do: the changes of the session ${id} have already been reverted.`)
      return exitCodes.done
    }
    requireUndo(inTrees)
    const held = holdSignals(
      'Interrupted while the changes were being reverted. The program exits as soon as all of them are reverted, or all are in the tree again.',
    )
    for (const [index, landing] of inTrees.length === 0 ? [[0, undefined] as const] : inTrees.entries()) {
      const [soFar, signal] = index === 0 ? ['Nothing was', held] : ['Only a part was', undefined]
      const stayed = await takeBackOrSay(landing, directory, soFar, signal)
      if (stayed === 'interrupted') {
        tell('Interrupted. Nothing was reverted: the tree is unchanged.')
        return codeOf(held.reason as Interruption)
      }
      for (const why of stayed) print(`The branch stays where it is. ${why}`)
    }
    const again = state.state === 'discarded' ? '' : ` To land the changes again, run agent apply ${id}.`
    print(`Reverted.${again}`)
    return exitCodes.done
  })
}

function isLanded(state: ViewState): boolean {
  return landingsInTrees(state).length > 0
}

/** Throws `failed` if one of the landings can't be undone, before any of them is. */
function requireUndo(landings: readonly NotedLanding[]): void {
  const fixed = landings.find(({ can_undo: canUndo }) => !canUndo)
  if (fixed === undefined) return
  const why = 'the replaced content was too large to keep, so these changes can\u2019t be reverted'
  throw new UserError('failed', `${fixed.root}: ${why}. What was committed before can be restored with git.`)
}

/**
 * Undoes the newest landing.
 *
 * @param soFar the beginning of the sentence that says how much was reverted, if this fails
 * @returns the reasons why something was not reverted, as `takeBack` returns them
 */
async function takeBackOrSay(
  landing: NotedLanding | undefined,
  directory: string,
  soFar: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | 'interrupted'> {
  const state = readViewState(directory)
  if (state === undefined) return []
  try {
    return await takeBack(directory, state, signal)
  } catch (error) {
    if (!(error instanceof CommitError || error instanceof PathError)) throw error
    if (error.code === 'nothing-to-undo' && landing !== undefined) {
      const why = (await isApplied(landing.root, landing.id))
        ? `The landing is no longer the last patch of ${landing.root}. ${await howToRevertLast(landing.root)}`
        : `The landing is not recorded in ${landing.root} any more: it was reverted with apply-patch undo, or it is so old that its journal was removed.`
      throw new UserError('failed', `${soFar} reverted. ${why}`)
    }
    throw new UserError('failed', `${soFar} reverted. ${renderFailure(error).trim()}`, { cause: error })
  }
}

/** How to revert the last patch of a tree. If a session landed it, `agent undo` is needed, because `apply-patch undo` would not revert the branches. */
async function howToRevertLast(root: string): Promise<string> {
  const last = await lastApplied(root)
  const session = last === undefined ? undefined : sessionThatLanded(root, last)
  return session === undefined
    ? 'First revert the later patches: run apply-patch undo there.'
    : `First revert what a later run landed: run agent undo ${session}.`
}

type Listed = {
  readonly path: string
  readonly kind: 'add' | 'update' | 'delete'
  readonly added: number
  readonly removed: number
}

function listed(session: ChangedSession, change: RunChange): Listed {
  const lines = renderPatch(session.directory, [change])
    .split(/\n@@ [^\n]*\n/)
    .slice(1)
    .join('\n')
    .split('\n')
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length
  const isDirectory =
    change.after.type === 'directory' || (change.after.type === 'absent' && change.before.type === 'directory')
  return {
    path: `${change.path}${isDirectory ? '/' : ''}`,
    kind: kindOf(change),
    added: count('+'),
    removed: count('-'),
  }
}

function asJson(session: ChangedSession, record: ChangeRecord): object {
  const { ignored, special, repositories, blocked } = record
  return {
    id: session.id,
    state: standing(session),
    changes: notIgnored(record).map((change) => ({ root: change.root, ...listed(session, change) })),
    ignored,
    not_landed: [...record.protected, ...special],
    commits: session.state.commits ?? [],
    new_repositories: (session.state.made ?? []).map(({ path }) => path),
    staged: stagedIn(session.state.indexes ?? []),
    refs: session.state.refs ?? [],
    refs_not_landed: session.state.kept ?? [],
    notes: session.state.landings.flatMap(({ notes = [] }) => notes),
    repositories,
    blocked,
  }
}

function linesOf(session: ChangedSession, record: ChangeRecord): readonly string[] {
  const marks = { add: 'A', update: 'M', delete: 'D' } as const
  const files = notIgnored(record).map((change) => {
    const { path, kind, added, removed } = listed(session, change)
    return `${marks[kind]} ${path.replaceAll('\n', '⏎')}  +${added} -${removed}`
  })
  const { ignored, special, blocked } = record
  const { commits = [], refs = [], kept: left = [], indexes = [], made = [] } = session.state
  return [
    `${session.id}  ${standing(session)}`,
    ...(files.length === 0 ? ['no changes'] : files),
    ...(ignored.files === 0
      ? []
      : [`ignored by git: ${counted(ignored.files, 'file')}, ${counted(ignored.bytes, 'byte')}`]),
    ...[...record.protected, ...special].map((path) => `never landed: ${path}`),
    ...landingsInTrees(session.state)
      .flatMap(({ notes = [] }) => notes)
      .map((note) => `note: ${note.replaceAll('\n', '⏎')}`),
    ...commitLines(commits),
    ...(made.length === 0 ? [] : [`new repositories: ${made.map(({ path }) => path).join(', ')}`]),
    ...stagedLines(stagedIn(indexes)),
    ...refLines(refs, left),
    ...unlandedRepositories(session.state, record).flatMap(({ path, kept, refs: changed = [] }) => [
      ...(changed.length === 0 ? [] : [`not landed in ${path}: ${refNames(changed.map(({ name }) => name))}`]),
      `commits in ${path}: ${fetchCommand(kept, session.id)}`,
    ]),
    ...blocked.map(({ path, why }) => `left out: ${path}: ${why}`),
  ]
}

function standing({ state: known }: ChangedSession): string {
  const { state } = known
  if (isReverted(known)) return isAllReverted(known) ? 'taken back' : 'taken back in part'
  return { making: 'not begun', open: 'not landed', landed: 'landed', discarded: 'thrown away' }[state]
}
