import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Contradiction } from '../core/events.ts'
import type { ChangeSource } from '../core/changes/change-watch.ts'
import { sourcePath } from '../../sandbox/index.ts'
import { headMark } from './git-state.ts'
import { madeCommits } from './record/made-commits.ts'
import type { Closing } from './closing.ts'
import type { Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'
import type { Stop } from './stop.ts'
import { isUnchanged } from './terminal-event.ts'

/** The outcome of a run. */
type Ending = {
  readonly closing: Pick<Closing, 'changes' | 'headMoved' | 'commits' | 'contradictions' | 'review'>
  /** Why a completed run counts as failed; undefined if it doesn't count as failed. */
  readonly stop: Stop | undefined
}

/** An upper bound, in milliseconds, for the resolution of file timestamps. The kernel rounds timestamps down to a tick of its clock. */
const tickMs = 20

/**
 * Prepares to determine a run's outcome. Call this before the run begins.
 *
 * @returns a function that determines the outcome. Call it when no command is running any more. Later calls return the same outcome
 */
export function watchEnding(options: RunOptions, recorder: Recorder, changes: ChangeSource): () => Promise<Ending> {
  const { workspace } = options
  const { views } = options.sandbox.policy
  const began = Date.now() - tickMs
  const isOwn = options.changes === undefined && options.serve === undefined
  const head = options.changes === undefined ? headMark(sourcePath(workspace, views)) : undefined
  let ending: Promise<Ending> | undefined
  return () => (ending ??= find())

  async function find(): Promise<Ending> {
    // This run is a sub-agent's. Its parent run determines the outcome.
    if (options.changes !== undefined) return { closing: {}, stop: undefined }
    const settled = await changes.settle()
    const headMoved = headMark(sourcePath(workspace, views)) !== head
    // Git is started only if there may be commits, because that takes as long as many a command.
    const commits =
      headMoved || (head !== undefined && recorder.counts.seen.namesGit)
        ? await madeCommits(options, began, /[0-9a-f]{40,64}$/.exec(head ?? '')?.[0])
        : []
    if (!isOwn) return { closing: { changes: settled, commits }, stop: undefined }
    if (options.review !== undefined) {
      const [report, failure] = [options.review.report(), options.review.failure()]
      return {
        closing: { changes: settled, commits, ...(report === undefined ? {} : { review: report }) },
        stop: failure === undefined ? undefined : { reason: 'failed', message: failure },
      }
    }
    const contradictions =
      options.claims?.contradictions(recorder.recordWith({ changes: settled, commits }), {
        outcomeOf: (command) => recorder.counts.seen.outcomeOf(command),
        isWritten: (path) => {
          const { workspace: here } = options
          return isWritten(sourcePath(isAbsolute(path) ? path : join(here, path), views), began)
        },
      }) ?? []
    const failure =
      options.failOnNoChange === true && isUnchanged(settled) && !headMoved
        ? 'The run changed nothing, so it failed because of --fail-on-no-change.'
        : contradicted(options, contradictions)
    return {
      closing: { changes: settled, headMoved, commits, contradictions },
      stop: failure === undefined ? undefined : { reason: 'failed', message: failure },
    }
  }
}

function contradicted({ claims }: RunOptions, contradictions: readonly Contradiction[]): string | undefined {
  const [first] = contradictions
  if (claims?.fails !== true || first === undefined) return undefined
  return `The record contradicts what the model claimed, so the run failed because of --fail-on-contradiction: "${first.claimed}", but ${first.record}.`
}

function isWritten(path: string, began: number): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && Math.max(stat.mtimeMs, stat.ctimeMs) >= began
  } catch {
    return false
  }
}
