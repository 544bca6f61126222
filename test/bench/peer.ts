import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import process from 'node:process'

/** The peer's program: CODEX_BIN, or `codex` on PATH; undefined if there is none. */
export function findCodex(): string | undefined {
  const named = process.env['CODEX_BIN']
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((directory) => join(directory, 'codex'))
  return [...(named === undefined ? [] : [named]), ...onPath].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
