import { execa } from 'execa'
import { areMounted, overlayStart, type Overlays } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import { isLocked, type LockedFolder } from '../session/session-lock.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { makeMountPoints } from '../transaction/overlay/storage.ts'
import { overlaysOfView } from '../transaction/stored-view.ts'
import type { ChangedSession } from './find-session.ts'
import { ownProcess, startedFor, takeStartedFor, thisProgram } from './own-process.ts'

/**
 * Starts this program again in a namespace in which the overlays of a run's view are mounted. The new process finds the run's changes, which are
 * invisible outside that namespace, and records them under the lock of this process. The session must be locked, because mounting an overlay twice
 * breaks it.
 *
 * @param started the session for which this process was itself started in such a namespace; undefined if it wasn't
 * @throws UserError `sandboxUnavailable` if the overlays can't be mounted; `failed` if the new process fails
 */
export async function lookWhereMounted(
  id: string,
  directory: LockedFolder,
  overlays: Overlays,
  started = takeStartedFor(),
): Promise<void> {
  const problem = (why: string): UserError =>
    new UserError('sandboxUnavailable', `The run's changes can be read only through an overlay. ${why}.`)
  if (started !== undefined) throw problem('It was mounted when this process started, but it is not mounted any more')
  makeMountPoints(directory, overlays, isLocked)
  const start = overlayStart(overlays, [...thisProgram(), 'changes', id, '--json'])
  if ('why' in start) throw problem(`It can't be mounted: ${start.why}`)
  const [file, ...words] = start.argv
  const { exitCode, stderr } = await execa(file, words, {
    env: startedFor(id),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  if (exitCode !== exitCodes.done)
    throw new UserError('failed', `The changes of the run could not be determined. ${stderr}`)
}

/**
 * Does what `startWhereMounted` does if the run made commits in a repository in the workspace, because the upper layer of the overlay alone isn't a repository.
 * Changes without commits can land even where the overlays aren't mounted.
 */
export async function startWhereCommitsAre(session: ChangedSession, { repositories }: ChangeRecord): Promise<void> {
  const overlays = overlaysOfView(session.directory, session.state)
  if (repositories.some(({ kept }) => overlays?.mounts.some((mount) => isInside(kept, mount))))
    await startWhereMounted(session)
}

/**
 * Restarts this program in the same process (by execve(2)), in a namespace in which the overlays of a run's view are mounted. Returns if there are none, or if
 * they are mounted already; otherwise why they can't be mounted. The session must be locked.
 */
export async function startWhereMounted({ id, directory, state }: ChangedSession): Promise<string | undefined> {
  const overlays = overlaysOfView(directory, state)
  if (overlays === undefined || areMounted(overlays.mounts)) return undefined
  const { startedFor: isStarted, startAnew } = ownProcess()
  if (isStarted !== undefined) return 'they were mounted when this process started, but are not mounted any more'
  makeMountPoints(directory, overlays, isLocked)
  return startAnew(id, (program) => overlayStart(overlays, program))
}
