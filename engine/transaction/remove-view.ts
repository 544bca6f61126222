import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from '../../sandbox/index.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { removeRecord, setRecordAside } from './change-record.ts'
import { leftInView } from './left-in-view.ts'
import { viewFolder } from './stored-view.ts'
import { isReverted, readViewState } from './view-state.ts'

/** Makes room for a new view. A session's last view and its record are moved aside if they contain anything that exists nowhere else. */
export async function setAside(directory: LockedFolder): Promise<void> {
  const left = await leftInView(directory)
  if (left === 'work') setRecordAside(directory, isReverted(readViewState(directory)) ? 'reverted' : 'unlanded')
  else removeRecord(directory)
  if (left === 'nothing' || !existsSync(viewFolder(directory))) return
  let number = 1
  while (existsSync(`${viewFolder(directory)}-${number}`)) number += 1
  renameSync(viewFolder(directory), `${viewFolder(directory)}-${number}`)
}

/** Removes all views of a session, with everything in them. The record of its changes stays. */
export async function removeViews(directory: LockedFolder): Promise<void> {
  const names = readdirSync(directory).filter((name) => /^view(?:-\d+)?$/.test(name))
  for (const name of names) await removeTree(join(directory, name))
}

/** Removes the session's last view unless it contains anything that exists nowhere else. The record of its changes stays. */
export async function removeLandedView(directory: LockedFolder): Promise<void> {
  if ((await leftInView(directory)) === 'nothing') await removeTree(viewFolder(directory))
}
