import { join } from 'node:path'
import process from 'node:process'
import { existsSync, writeFileSync } from './host-paths.ts'
import type { Mount } from './mount.ts'
import { keyFilesIn } from './protected/key-files.ts'

/**
 * Files with secrets. `hidden` are those that contain nothing else. For the others, `replaced` has copies without the secrets, which commands see in
 * their place.
 */
export type KeyFileView = { readonly hidden: readonly string[]; readonly replaced: readonly Mount[] }

/**
 * Returns a function that finds the files with secrets at the top level of the roots, and decides what commands see in place of them.
 *
 * @param directory the run's own directory, in which the copies without secrets are stored
 */
export function createKeyFileView(directory: string, roots: readonly string[]): () => KeyFileView {
  const tops = [...new Set(roots)]
  return () => {
    const found = tops.flatMap(keyFilesIn)
    return {
      hidden: found.flatMap(({ path, shown }) => (shown === undefined ? [path] : [])),
      replaced: found.flatMap(({ path, shown }) =>
        shown === undefined ? [] : [{ path, source: keep(directory, shown), as: 'replaced-file' as const }],
      ),
    }
  }
}

/** Stores a text (latin1) in a file whose name is derived from the text, so that the same text is stored only once. */
function keep(directory: string, text: string): string {
  // The module is loaded only when needed: most runs don't need it, and loading it takes longer than confining a command.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const source = join(directory, `shown-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`)
  if (!existsSync(source)) writeFileSync(source, Buffer.from(text, 'latin1'), { flag: 'wx', mode: 0o644 })
  return source
}
