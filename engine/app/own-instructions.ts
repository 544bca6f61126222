import { join } from 'node:path'
import { homeDirectory } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { MemoryPlaces } from '../memory/read-memory.ts'
import { readUserText } from '../core/read-plain-file.ts'

const largest = 1024 * 1024

/** What the user configured about the repository's instruction files. */
export function instructionFiles({
  project_doc_fallback_filenames: fallbacks,
  project_doc_max_bytes: limit,
}: Settings): Pick<MemoryPlaces, 'fallbacks' | 'limit'> {
  return { fallbacks, limit }
}

/**
 * Reads the file that the user configured to replace the built-in instructions.
 *
 * @returns undefined if none is configured
 * @throws UserError `usage` if the file can't be read
 */
export function ownInstructions({ model_instructions_file: file }: Settings): string | undefined {
  if (file === undefined) return undefined
  const path = file === '~' || file.startsWith('~/') ? join(homeDirectory(), file.slice(1)) : file
  return readUserText(path, largest, `model_instructions_file: ${path}`)
}
