import process from 'node:process'
import { CommitError, renderFailure, undo } from '../../apply-patch/index.ts'
import { areMounted, holdOutput } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import { commitLines } from '../display/transaction-lines.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession } from '../session/session-lock.ts'
import { removeRecord, renderPatch, type ChangeRecord, type RunChange } from '../transaction/change-record.ts'
import { closeView, keepsMore, land } from '../transaction/land.ts'
import { giveBackLanded, landCommits } from '../transaction/land-commits.ts'
import { changesOfSession } from '../transaction/changes-of-session.ts'
import { overlaysOfView, removeView, removeViews, writeViewState, type ViewState } from '../transaction/private-view.ts'
import { findChangedSession, type ChangedSession } from './find-changes.ts'

/** How `agent apply` lands. */
export type ApplyOptions = { readonly landCommits?: true }

/** What `agent changes` was asked to show, and how. */
export type ChangesOptions = { readonly diff?: true; readonly json?: true; readonly patch?: string }

/** `agent changes`: what a run changed, whether it has landed or not. */
export async function changesCommand(run: string | undefined, options: ChangesOptions): Promise<number> {
  const session = findChangedSession(run)
  const record = await recordOf(session, true)
  const patch = (): string => renderPatch(session.directory, record.changes)
  if (options.patch !== undefined) {
    if (options.patch === '-') process.stdout.write(patch())
    else holdOutput(options.patch).write(patch())
    return exitCodes.done
  }
  if (options.diff === true) process.stdout.write(process.stdout.isTTY ? sanitizeOutput(Buffer.from(patch())) : patch())
  else if (options.json === true) process.stdout.write(`${JSON.stringify(asJson(session, record))}\n`)
  else for (const line of linesOf(session, record)) process.stdout.write(`${sanitizeOutput(Buffer.from(line))}\n`)
  return exitCodes.done
}

/** `agent apply`: lands what a run changed, or some of it. */
export async function applyCommand(
  run: string | undefined,
  paths: readonly string[],
  { landCommits: moves }: ApplyOptions,
): Promise<number> {
  return claimed(findChangedSession(run), async (session) => {
    const record = await recordOf(session)
    const chosen = paths.length === 0 ? record.changes : choose(record, paths)
    const landing = await land(session.directory, record, chosen)
    const all = chosen.length === record.changes.length
    const isIn = all && (landing.type === 'landed' || landing.type === 'nothing')
    const commits = isIn ? await landCommits(session.directory, record, moves === true) : undefined
    for (const line of commitLines(commits?.landed ?? [])) process.stdout.write(`${line}\n`)
    for (const { path, why } of commits?.failed ?? []) process.stderr.write(`${path}: commits not taken: ${why}\n`)
    switch (landing.type) {
      case 'landed': {
        if (all) await finish(session, record)
        const merged = landing.merged.map((path) => `merged with what somebody else changed: ${path}\n`).join('')
        process.stdout.write(
          `${merged}${landing.files} ${landing.files === 1 ? 'file' : 'files'} landed; agent undo ${session.id} takes it back\n`,
        )
        return exitCodes.done
      }
      case 'nothing':
        if (all) await finish(session, record)
        process.stdout.write('Nothing to do: all of it is in the tree already.\n')
        return exitCodes.done
      case 'conflict':
        for (const { path, why } of landing.conflicts) process.stderr.write(`${path}: ${why}\n`)
        process.stderr.write(`Nothing was landed. agent changes ${session.id} --patch FILE gives the patch.\n`)
        return exitCodes.failed
      case 'failed':
        process.stderr.write(`Nothing was landed. ${landing.message}\n`)
        return exitCodes.failed
      default:
        return landing satisfies never
    }
  })
}

/** `agent discard`: throws away what a run changed, and its view. */
export async function discardCommand(run: string | undefined): Promise<number> {
  return claimed(findChangedSession(run), async ({ id, directory, state }) => {
    if (state.state === 'discarded') {
      process.stdout.write('Nothing to do: its changes were thrown away already.\n')
      return exitCodes.done
    }
    closeView(directory, 'discarded')
    await removeViews(directory)
    removeRecord(directory)
    const landed = state.landing !== undefined && !state.landing.undone
    process.stdout.write(
      landed
        ? `What was kept of them is gone. What has landed is in the tree: agent undo ${id} takes that back.\n`
        : 'Its changes are gone. The tree is as it was.\n',
    )
    return exitCodes.done
  })
}

/** `agent undo`: takes back what a run landed. */
export async function undoCommand(run: string | undefined): Promise<number> {
  return claimed(findChangedSession(run), async ({ id, directory, state }) => {
    const { landing, commits = [] } = state
    if (landing === undefined && commits.length === 0)
      throw new UserError('usage', `Nothing of the session ${id} has landed, so there is nothing to take back.`)
    if (landing?.undone !== false && commits.length === 0) {
      process.stdout.write('Nothing to do: it was taken back already.\n')
      return exitCodes.done
    }
    if (landing?.undone === false) await undoFiles(landing, directory, state)
    for (const why of giveBackLanded(directory)) process.stdout.write(`The branch stays where it is. ${why}\n`)
    process.stdout.write(`Taken back. agent apply ${id} lands it again.\n`)
    return exitCodes.done
  })
}

async function undoFiles(
  landing: NonNullable<ViewState['landing']>,
  directory: string,
  state: ViewState,
): Promise<void> {
  if (!landing.can_undo) {
    const why = 'what it replaced was too much to keep, so it can\u2019t be taken back'
    throw new UserError('failed', `${landing.root}: ${why}. git knows what was committed.`)
  }
  try {
    await undo(landing.root, { only: landing.id })
  } catch (error) {
    if (!(error instanceof CommitError)) throw error
    if (error.code === 'nothing-to-undo') {
      const hint = `Take back what came after it first: apply-patch undo, in ${landing.root}.`
      throw new UserError(
        'failed',
        `It is not the last patch of ${landing.root} any more, or too old to be known. ${hint}`,
      )
    }
    throw new UserError('failed', `Nothing was taken back. ${renderFailure(error).trim()}`, { cause: error })
  }
  writeViewState(directory, { ...state, landing: { ...landing, undone: true } })
}

/** Nobody else may run the session, or land its changes, meanwhile. */
async function claimed(session: ChangedSession, act: (session: ChangedSession) => Promise<number>): Promise<number> {
  const release = lockSession(session.directory)
  try {
    return await act(session)
  } finally {
    release()
  }
}

/** @param takesLock whether this command holds no lock of the session yet */
async function recordOf({ id, directory, state }: ChangedSession, takesLock = false): Promise<ChangeRecord> {
  const overlays = state.state === 'open' && !state.gathered ? overlaysOfView(directory, state) : undefined
  if (overlays !== undefined && !areMounted(overlays.mounts)) {
    const release = takesLock ? lockSession(directory) : undefined
    const { lookWhereMounted } = await import('./look-where-mounted.ts')
    await lookWhereMounted(id, directory, overlays).finally(release)
  }
  const record = await changesOfSession(directory)
  if (record !== undefined) return record
  throw new UserError('usage', `The changes of the session ${id} were thrown away.`)
}

async function finish({ directory }: ChangedSession, record: ChangeRecord): Promise<void> {
  closeView(directory, 'landed')
  if (!keepsMore(record)) await removeView(directory)
}

/** @throws UserError `usage` for a path that the run did not change */
function choose(record: ChangeRecord, paths: readonly string[]): readonly RunChange[] {
  const plain = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''))
  const isMeant = (change: RunChange, wanted: string): boolean =>
    [change.path, `${change.root}/${change.path}`].some((name) => name === wanted || name.startsWith(`${wanted}/`))
  for (const wanted of plain) {
    if (record.changes.some((change) => isMeant(change, wanted))) continue
    throw new UserError(
      'usage',
      `The run changed no ${wanted}. Paths count from the top of the tree, as agent changes shows them.`,
    )
  }
  return record.changes.filter((change) => plain.some((wanted) => isMeant(change, wanted)))
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
  const kind = change.before.type === 'absent' ? 'add' : change.after.type === 'absent' ? 'delete' : 'update'
  const isDirectory =
    change.after.type === 'directory' || (change.after.type === 'absent' && change.before.type === 'directory')
  return { path: `${change.path}${isDirectory ? '/' : ''}`, kind, added: count('+'), removed: count('-') }
}

function asJson(session: ChangedSession, record: ChangeRecord): object {
  const { ignored, special, repositories, blocked } = record
  return {
    id: session.id,
    state: standing(session),
    changes: record.changes.map((change) => ({ root: change.root, ...listed(session, change) })),
    ignored,
    not_landed: [...record.protected, ...special],
    commits: session.state.commits ?? [],
    repositories,
    blocked,
  }
}

function linesOf(session: ChangedSession, record: ChangeRecord): readonly string[] {
  const marks = { add: 'A', update: 'M', delete: 'D' } as const
  const files = record.changes.map((change) => {
    const { path, kind, added, removed } = listed(session, change)
    return `${marks[kind]} ${path.replaceAll('\n', '⏎')}  +${added} -${removed}`
  })
  const { ignored, special, repositories, blocked } = record
  const { commits = [] } = session.state
  return [
    `${session.id}  ${standing(session)}`,
    ...(files.length === 0 ? ['no changes'] : files),
    ...(ignored.files === 0 ? [] : [`ignored by git: ${ignored.files} files, ${ignored.bytes} bytes`]),
    ...[...record.protected, ...special].map((path) => `never landed: ${path}`),
    ...commitLines(commits),
    ...repositories
      .filter(({ path }) => !commits.some((each) => each.path === path))
      .map(({ path, kept }) => `commits in ${path}: ${shellJoin(['git', 'fetch', kept, 'HEAD'])}`),
    ...blocked.map(({ path, why }) => `can't be landed: ${path}: ${why}`),
  ]
}

function standing({ state: { state, landing } }: ChangedSession): string {
  if (landing?.undone === true) return 'taken back'
  return { making: 'not begun', open: 'not landed', landed: 'landed', discarded: 'thrown away' }[state]
}
