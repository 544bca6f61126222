import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Row } from './doctor-row.ts'

/**
 * Returns the row that says whether sessions can be stored. To test this, a directory is created in the folder for sessions (or, if that doesn't
 * exist yet, in the nearest parent that does) and then removed.
 */
export function stateRow(state: string): Row {
  const row = { group: 'files', check: 'state' } as const
  const there = nearestThere(state)
  try {
    rmdirSync(mkdtempSync(join(there, '.portcullis-doctor-')))
  } catch (error) {
    const found = `${state} can't be written: ${(error as Error).message}`
    const next =
      'Set XDG_STATE_HOME to a folder that you can write to, or use --ephemeral, with which a run stores nothing.'
    return { ...row, state: 'missing', found, next }
  }
  return { ...row, state: 'ok', found: there === state ? `${state} can be written` : `${state} can be created` }
}

function nearestThere(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path))
}
