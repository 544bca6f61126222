import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodes } from '../core/exit-codes.ts'
import type { HistoryItem } from '../core/model.ts'
import { readRollout } from '../session/rollout.ts'
import { stepsOf } from '../session/steps.ts'
import { removeTree } from '../../sandbox/index.ts'
import { lockIfFree, type LockedFolder } from '../session/session-lock.ts'
import { sessionDirectory } from '../session/session.ts'
import { isAborted } from '../transaction/is-aborted.ts'
import { leftInSession } from '../transaction/left-in-view.ts'
import { findSessionFolder, type NamedRun } from './find-session.ts'
import { allSessions, endOf, oneLine, rolloutOf, summaries } from './session-summaries.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { UserError } from '../core/user-error.ts'
import { codeOf, holdSignals, type Interruption } from './interrupts.ts'
import { counted } from '../core/text/counted.ts'
import { print, printText, printJson } from './print.ts'

const shownCharacters = 2000
const dayMs = 86_400_000

/** `agent sessions list`: prints a line for each session. If a session can't be read, its line says so. */
export function listCommand(options: { readonly json?: true }): number {
  for (const summary of summaries()) {
    if (options.json === true) printJson(summary)
    else
      print(
        [summary.id, summary.started.slice(0, 16), summary.end, summary.workspace, oneLine(summary.prompt, 60)].join(
          '  ',
        ),
      )
  }
  return exitCodes.done
}

/** `agent sessions show`: prints a session's conversation as text, with the numbers of its steps. */
export function showCommand(given: NamedRun): number {
  const rollout = readRollout(join(findSessionFolder(given), 'rollout.jsonl'))
  const { session, usage } = rollout
  print(session.thread_id, `${session.started}  ${session.workspace}  ${endOf(rollout)}`)
  print(`tokens: ${usage.inputTokens} in, ${usage.outputTokens} out`)
  const beginnings = new Map(stepsOf(rollout).map(({ items, number }) => [items[0], number]))
  for (const item of rollout.original) {
    const step = beginnings.get(item)
    if (step !== undefined) print('', `step ${step}`)
    const text = describe(item)
    if (text !== undefined) printText(`\n${truncateMiddle(text, shownCharacters).text}\n`)
  }
  return exitCodes.done
}

/**
 * `agent sessions prune`: removes sessions whose last run is older than a number of days. Sessions that another process is working on are kept.
 *
 * @param unlanded whether to also remove sessions with work that is nowhere else
 */
export async function pruneCommand(days: number, unlanded: boolean): Promise<number> {
  const held = holdSignals('Interrupted. The program exits as soon as the session that is being removed is gone.')
  let [removed, bytes, kept, busy] = [0, 0, 0, 0]
  for (const [state, id] of allSessions()) {
    if (await isAborted(held)) break
    const file = rolloutOf(state, id)
    const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? statSync(sessionDirectory(state, id)).mtimeMs
    if (Date.now() - touched < days * dayMs) continue
    const lock = lockIfFree(sessionDirectory(state, id), 'prune')
    if (lock === undefined) {
      busy++
      continue
    }
    try {
      if (!unlanded && (await hasWork(lock.directory))) kept++
      else {
        bytes += bytesIn(lock.directory)
        await removeTree(lock.directory)
        removed++
      }
    } finally {
      lock.release()
    }
  }
  const size = bytes < 1_000_000 ? '' : `, ${Math.round(bytes / 1_000_000)} MB`
  print(`${counted(removed, 'session')} removed${size}`)
  if (kept > 0) {
    const what = `${counted(kept, 'session')} kept, because ${kept === 1 ? 'its' : 'their'} changes were neither landed nor discarded`
    print(`${what} (to see them, run agent changes ID); --unlanded removes ${kept === 1 ? 'it' : 'them'} too`)
  }
  if (busy > 0) print(`${counted(busy, 'session')} kept, because a process is working on ${busy === 1 ? 'it' : 'them'}`)
  return held.aborted ? codeOf(held.reason as Interruption) : exitCodes.done
}

/** Whether a session contains work that is nowhere else. True if the files that would show this are damaged. */
async function hasWork(directory: LockedFolder): Promise<boolean> {
  try {
    return (await leftInSession(directory)) === 'work'
  } catch (error) {
    if (error instanceof UserError) return true
    throw error
  }
}

/** The disk space that a directory's files use, in bytes. */
function bytesIn(directory: string | Buffer): number {
  try {
    const sizes = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' }).map((entry) => {
      const path = Buffer.concat([Buffer.from(directory), Buffer.from('/'), entry.name])
      return entry.isDirectory() ? bytesIn(path) : (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512
    })
    return sizes.reduce((sum, size) => sum + size, 0)
  } catch {
    // The directory can't be read, or it was removed in the meantime.
    return 0
  }
}

function describe(item: HistoryItem): string | undefined {
  switch (item.type) {
    case 'message':
      return `${item.role}: ${item.text}`
    case 'reasoning':
      return item.text === '' ? undefined : `thinking: ${item.text}`
    case 'web_search':
      return item.query === '' ? undefined : `searched the web: ${item.query}`
    case 'tool_call':
      return `> ${item.call.name} ${item.call.input}`
    case 'tool_result':
      return `${item.ok ? '<' : '< (failed)'} ${item.output}`
    default:
      return item satisfies never
  }
}
