import { lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { ChangeSource } from '../core/changes/change-watch.ts'
import { sourcePath } from '../../sandbox/index.ts'
import type { KnownOfRun } from './claims/run-evidence.ts'
import { unsupportedClaims } from './claims/unsupported.ts'
import { headMark } from './git-state.ts'
import type { Closing, Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'
import type { Stop } from './stop.ts'
import { isUnchanged } from './terminal-event.ts'

/** The outcome of a run. */
type Ending = {
  readonly closing: Pick<Closing, 'changes' | 'headMoved' | 'unsupported' | 'review'>
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
  const head = isOwn ? headMark(sourcePath(workspace, views)) : undefined
  let ending: Promise<Ending> | undefined
  return () => (ending ??= find())

  async function find(): Promise<Ending> {
    // This run is a sub-agent's. Its parent run determines the outcome.
    if (options.changes !== undefined) return { closing: {}, stop: undefined }
    const settled = await changes.settle()
    if (!isOwn) return { closing: { changes: settled }, stop: undefined }
    if (options.review !== undefined) {
      const [report, failure] = [options.review.report(), options.review.failure()]
      return {
        closing: { changes: settled, ...(report === undefined ? {} : { review: report }) },
        stop: failure === undefined ? undefined : { reason: 'failed', message: failure },
      }
    }
    const headMoved = headMark(sourcePath(workspace, views)) !== head
    const unsupported = await unsupportedClaims(recorder.finalMessage, {
      ...recorder.evidence.record(),
      changed: settled.files.map(({ path }) => path),
      workspace: options.now?.().workspace ?? workspace,
      isTouched: (path) => {
        const absolute = isAbsolute(path) ? path : join(options.now?.().workspace ?? workspace, path)
        return stateOf(sourcePath(absolute, views), began)
      },
      goesOn: options.resumedFrom !== undefined,
    })
    const isFailure = options.failOnNoChange === true && isUnchanged(settled) && !headMoved
    return {
      closing: { changes: settled, headMoved, unsupported },
      stop: isFailure
        ? { reason: 'failed', message: 'The run changed nothing, so it failed because of --fail-on-no-change.' }
        : undefined,
    }
  }
}

function stateOf(path: string, began: number): ReturnType<KnownOfRun['isTouched']> {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return 'absent'
    return Math.max(stat.mtimeMs, stat.ctimeMs) >= began ? 'written' : 'as-before'
  } catch {
    return 'as-before'
  }
}
