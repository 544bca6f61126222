import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ImportSides } from './import-types.ts'
import { parseIndex, type IndexEntry } from './index-file.ts'

/**
 * Reads an index of the host. Git expands a split index (git-update-index(1), `--split-index`), in a copy. Returns undefined if the index is damaged,
 * or if the part of it that is in another file is missing; an index that doesn't exist has no entries.
 */
export function readHostIndex(
  { git, host, oidBytes }: Pick<ImportSides, 'git' | 'host' | 'oidBytes'>,
  content: Buffer | undefined,
): readonly IndexEntry[] | undefined {
  if (content === undefined) return []
  const entries = parseIndex(content, oidBytes)
  if (entries !== undefined || !content.includes('link')) return entries
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-index-'))
  try {
    const file = join(folder, 'index')
    writeFileSync(file, content)
    // Git looks for the other file in the repository, wherever the index is.
    const words = ['-c', 'core.splitIndex=false', 'update-index', '--no-split-index', '--force-write-index']
    return git.run(host, words, { env: { GIT_INDEX_FILE: file } }).ok
      ? parseIndex(readFileSync(file), oidBytes)
      : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
