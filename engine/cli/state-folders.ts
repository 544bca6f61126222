import process from 'node:process'
import { findAppPaths, stateFor } from '../core/app-paths.ts'

/**
 * The folders that can contain sessions: the user's state folder and, if that folder is in the workspace, the other folder in which sessions are then
 * stored.
 */
export function stateFolders(workspace = process.cwd()): readonly string[] {
  const { state } = findAppPaths(process.env)
  return [...new Set([stateFor([workspace], state), state])]
}
