import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitCodes } from '../core/exit-codes.ts'
import { version } from '../core/version.ts'
import { exportRecording } from '../session/export-recording.ts'
import { readRollout } from '../session/rollout.ts'
import { findSessionFolder, type NamedRun } from './find-session.ts'
import { writeOutputFile } from './output-file.ts'
import { warn } from './warn.ts'
import { print, printJsonText } from './print.ts'

/**
 * `agent sessions export`: writes a session as a recording, which a later run can replay.
 *
 * @param output a file, or a directory in which the file is created; undefined: standard output
 * @throws UserError `usage` if there is no such session, it can't be read, or the file can't be written
 */
export function exportCommand(given: NamedRun, output: string | undefined): number {
  const rollout = readRollout(join(findSessionFolder(given), 'rollout.jsonl'))
  const { text, doubts } = exportRecording(rollout, version)
  const id = rollout.session.thread_id
  if (output === undefined) printJsonText(text)
  else {
    const path = placeOf(output, id)
    writeOutputFile(path, text, 'the recording', true)
    print(path)
  }
  for (const doubt of doubts) warn(`the session ${id}: ${doubt}`)
  return exitCodes.done
}

function placeOf(output: string, id: string): string {
  const isFolder = output.endsWith('/') || statSync(output, { throwIfNoEntry: false })?.isDirectory() === true
  return resolve(isFolder ? join(output, `${id}.jsonl`) : output)
}
