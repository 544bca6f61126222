import { execa } from 'execa'
import { overlayStart, type Overlays } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { isLocked } from '../session/session-lock.ts'
import { makeMountPoints } from '../transaction/overlay/storage.ts'
import { startedFor, takeStartedFor, thisProgram } from './own-process.ts'

/**
 * Runs this program where the overlays of a run's view are mounted, to find out the run's changes: they are invisible elsewhere. The session must be
 * locked, since mounting an overlay twice breaks it.
 *
 * @throws UserError `sandboxUnavailable` where they can't be mounted
 */
export async function lookWhereMounted(id: string, directory: string, overlays: Overlays): Promise<void> {
  const isStarted = takeStartedFor() !== undefined
  if (!isStarted) makeMountPoints(directory, overlays, isLocked)
  const start = isStarted
    ? { why: 'they were mounted, but are no longer' }
    : overlayStart(overlays, [...thisProgram(), 'changes', id, '--json'])
  if ('why' in start) {
    const message = `What the run changed is kept in an overlay, which can't be mounted: ${start.why}.`
    throw new UserError('sandboxUnavailable', message)
  }
  const [file, ...words] = start.argv
  const { exitCode, stderr } = await execa(file, words, {
    env: startedFor(id),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  if (exitCode !== exitCodes.done)
    throw new UserError('failed', `The changes of the run could not be found out. ${stderr}`)
}
