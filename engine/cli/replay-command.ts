import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { holdOutput } from '../../sandbox/index.ts'
import { findWorkspace } from '../app/workspace.ts'
import { ModelError, type Model } from '../core/model.ts'
import { readUserText } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { version } from '../core/version.ts'
import { playRecording } from '../models/replay-model.ts'
import type { FoundDifference } from '../models/replay-differences.ts'
import { largestRecording, parseRecording } from '../models/replay-format.ts'
import { updateRecording } from '../models/update-recording.ts'
import { exportRecording } from '../session/export-recording.ts'
import { readRollout } from '../session/rollout.ts'
import { runExec } from './run-exec.ts'
import type { ExecOptions } from './exec-options.ts'
import { findSessionFolder } from './find-session.ts'
import type { Progress } from './report-startup-failure.ts'
import { warn } from './warn.ts'
import { counted } from '../core/text/counted.ts'

/** The options of `agent replay`. */
export type ReplayOptions = ExecOptions & { readonly keepGoing?: true; readonly update?: true }

/**
 * `agent replay`: starts a run in which a recording takes the place of the model.
 *
 * @param source the file of a recording, or a session
 * @returns the exit code of the run
 * @throws UserError `usage` if `-m` is given, or if the recording doesn't exist, is invalid or can't be updated; in these cases nothing was run
 */
export async function runReplay(
  source: string,
  prompt: string | undefined,
  options: ReplayOptions,
  progress: Progress,
): Promise<number> {
  if (options.model !== undefined)
    throw new UserError('usage', `-m ${options.model}: a replay uses the recording as its model; leave out -m`)
  const recording = readSource(source)
  const cwd = findWorkspace(options.cd ?? process.cwd())
  const parsed = asUserError(() => parseRecording(recording.text, recording.shown))
  const settle = options.update === true ? updating(recording, cwd) : undefined
  const model: Model = playRecording(parsed, {
    name: `replay:${recording.path ?? recording.shown}`,
    file: recording.shown,
    cwd,
    keepGoing: options.keepGoing === true,
    ...(settle === undefined ? {} : { settle }),
  })
  return runExec(
    prompt ?? parsed.prompt?.replaceAll('<<cwd>>', cwd),
    options,
    { type: 'new' },
    progress,
    undefined,
    model,
  )
}

/** The source of a recording. `path` is undefined if the recording was made from a session, because then no file contains it. */
type Source = { readonly text: string; readonly shown: string; readonly path: string | undefined }

function readSource(source: string): Source {
  if (statSync(source, { throwIfNoEntry: false })?.isFile() === true) {
    return { text: readUserText(source, largestRecording), shown: source, path: resolve(source) }
  }
  const rollout = readRollout(join(findSessionFolder(source), 'rollout.jsonl'))
  const { text, doubts } = exportRecording(rollout, version)
  for (const doubt of doubts) warn(`the session ${rollout.session.thread_id}: ${doubt}`)
  return { text, shown: `session ${rollout.session.thread_id}`, path: undefined }
}

/** Prepares the update of a recording. Returns a function that writes the new results to it; call that function when the whole recording has been played. */
function updating({ text, path, shown }: Source, cwd: string): (differences: readonly FoundDifference[]) => string {
  const unwritable = (why: string): UserError => new UserError('usage', `--update: ${shown} can't be written: ${why}`)
  if (path === undefined)
    throw new UserError(
      'usage',
      "--update: a session can't be updated; make a recording of it with agent sessions export",
    )
  let held: ReturnType<typeof holdOutput>
  try {
    // The file is opened before anything runs, so that no command can redirect the update to another file.
    held = holdOutput(path)
  } catch (error) {
    throw unwritable((error as Error).message)
  }
  return (differences) => {
    if (differences.length === 0) return `${shown} needs no update.`
    const updated = updateRecording(text, differences, cwd)
    try {
      held.write(updated)
    } catch (error) {
      throw unwritable((error as Error).message)
    }
    return `${shown}: ${counted(differences.length, 'result was', 'results were')} updated.`
  }
}

function asUserError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ModelError) throw new UserError('usage', error.message, { cause: error })
    throw error
  }
}
