import process from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import type { AskPerson } from '../approvals/ask-at-terminal.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { commitLines, refLines } from '../core/text/transaction-lines.ts'
import type { ChangeRecord, RunChange } from '../transaction/change-record.ts'
import { closeView, isWhole, land } from '../transaction/land.ts'
import { lastSides } from '../transaction/note-landed.ts'
import { removeLandedView } from '../transaction/remove-view.ts'
import { recordOf, withLock, type LockedChanges } from './changed-session.ts'
import { startWhereCommitsAre } from './look-where-mounted.ts'
import { findChangedSession, type NamedRun } from './find-session.ts'
import { pickChanges } from './pick-changes.ts'
import { codeOf, holdSignals, whileLanding, type Interruption } from './interrupts.ts'
import { counted } from '../core/text/counted.ts'
import { isPersonThere, openOwnTerminal } from './own-terminal.ts'
import { print, tell, tellText } from './print.ts'

/** The options of `agent apply`. With `patch`, the person at the terminal decides about each hunk. */
export type ApplyOptions = { readonly patch?: true }

/**
 * `agent apply`: lands all or some of the changes of a run.
 *
 * @param say prints what happened, line by line. Default: on standard output
 */
export async function applyCommand(
  run: NamedRun,
  paths: readonly string[],
  { patch }: ApplyOptions,
  say: typeof print = print,
): Promise<number> {
  if (patch === true) requireTerminal()
  return withLock(findChangedSession(run), 'land', async (session) => {
    const record = await recordOf(session, session.directory)
    if (paths.length === 0) await startWhereCommitsAre(session, record)
    const ask = patch === true ? openOwnTerminal() : undefined
    const named = paths.length === 0 ? record.changes : choose(record, paths)
    const chosen = ask === undefined ? named : await pick(named, session, ask)
    if (chosen === undefined) {
      say('You chose no changes: the tree is unchanged.')
      return exitCodes.done
    }
    const all = isWhole(record, chosen)
    // If only changes that can't land are left out, no later landing would take the commits along.
    const isEvery = isWhole({ ...record, blocked: [] }, chosen)
    const held = holdSignals(whileLanding)
    const wish = { chosen, signal: held, commits: isEvery }
    const landing = await land(session.directory, record, wish)
    const commits = landing.type === 'landed' || landing.type === 'nothing' ? landing.commits : undefined
    const lines = [...commitLines(commits?.landed ?? []), ...refLines(commits?.refs ?? [], commits?.kept ?? [])]
    for (const line of lines) say(line)
    for (const { path, why } of commits?.failed ?? []) tell(`${path}: the commits were not landed: ${why}`)
    switch (landing.type) {
      case 'landed': {
        if (all) await finish(session)
        const undone = landing.canUndo ? `; to revert this, run agent undo ${session.id}` : ''
        say(
          ...landing.merged.map((path) => `merged with somebody else's changes: ${path}`),
          ...landing.notes.map((note) => `note: ${note}`),
          `${whatLanded(landing)} landed${undone}`,
        )
        return exitCodes.done
      }
      case 'nothing':
        if (all) await finish(session)
        say('Nothing to do: the tree already has all of these changes.')
        return exitCodes.done
      case 'conflict':
        for (const { path, why } of landing.conflicts) tell(`${path}: ${why}`)
        tell(`Nothing was landed. To get the patch, run agent changes ${session.id} --patch FILE.`)
        return exitCodes.failed
      case 'interrupted':
        tell('Interrupted. Nothing was landed: the tree is unchanged.')
        return codeOf(held.reason as Interruption)
      case 'failed':
        tell(`${landing.tree === 'unchanged' ? 'Nothing was landed. ' : ''}${landing.message}`)
        return exitCodes.failed
      default:
        return landing satisfies never
    }
  })
}

/**
 * Checks that a person at a terminal can be asked.
 *
 * @throws UserError `usage` if standard input or standard error is not a terminal
 */
function requireTerminal(): void {
  if (isPersonThere()) return
  throw new UserError(
    'usage',
    '-p asks about each hunk, but there is no terminal. Name paths instead, or leave out -p to land all changes.',
  )
}

/**
 * Asks about each change, or about what is left of it if a part of it has landed before.
 *
 * @returns the accepted changes and those that have landed before; undefined if no change was accepted
 */
async function pick(
  changes: readonly RunChange[],
  { directory, state }: LockedChanges,
  ask: AskPerson,
): Promise<readonly RunChange[] | undefined> {
  const sideOf = lastSides(state.applied)
  const offers = changes.map((change) => ({ change, left: { ...change, before: sideOf(change) } }))
  const isDone = ({ left }: { readonly left: RunChange }): boolean => isDeepStrictEqual(left.before, left.after)
  const open = offers.filter((offer) => !isDone(offer))
  try {
    const left = open.map((offer) => offer.left)
    const picked = await pickChanges(left, directory, ask, tellText)
    if (picked.length === 0 && open.length > 0) return undefined
    const whole = picked.map((one) => offers.find((offer) => offer.left === one)?.change ?? one)
    return [...offers.filter(isDone).map(({ change }) => change), ...whole]
  } finally {
    // Nothing reads standard input any more, and an open stream would keep the process alive.
    process.stdin.destroy()
  }
}

/** Names what a landing changed: the files or, if it changed none, the directories. */
function whatLanded({ files, directories }: { readonly files: number; readonly directories: number }): string {
  return files === 0 && directories > 0 ? counted(directories, 'directory', 'directories') : counted(files, 'file')
}

async function finish({ directory }: LockedChanges): Promise<void> {
  closeView(directory, 'landed')
  await removeLandedView(directory)
}

/**
 * Returns the changes at the given paths and below them, with the new directories that they need.
 *
 * @throws UserError `usage` for a path that the run did not change, and for an empty one
 */
function choose(record: ChangeRecord, paths: readonly string[]): readonly RunChange[] {
  if (paths.includes('')) {
    const message = "'' is not a path. To land all changes, give no path; to land all changes that can land, give '.'."
    throw new UserError('usage', message)
  }
  const plain = paths.map((path) => (path === './' ? '.' : path.replace(/^\.\//, '').replace(/(?!^)\/$/, '')))
  const isMeant = (change: RunChange, wanted: string): boolean =>
    wanted === '.' ||
    [change.path, `${change.root}/${change.path}`].some((name) => name === wanted || name.startsWith(`${wanted}/`))
  for (const wanted of plain) {
    if (record.changes.some((change) => isMeant(change, wanted))) continue
    throw new UserError(
      'usage',
      `The run did not change '${wanted}'. Give paths relative to the top of the tree, as agent changes shows them.`,
    )
  }
  const meant = record.changes.filter((change) => plain.some((wanted) => isMeant(change, wanted)))
  return record.changes.filter((change) => meant.includes(change) || meant.some((each) => isMadeFor(change, each)))
}

/** Whether a change makes a directory that another change needs. */
function isMadeFor({ root, path, before, after }: RunChange, other: RunChange): boolean {
  const isMade = before.type === 'absent' && after.type === 'directory'
  return isMade && other.root === root && other.path.startsWith(`${path}/`)
}
