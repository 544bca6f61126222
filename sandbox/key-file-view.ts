import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Mount } from './mount.ts'
import { keyFilesIn } from './protected/key-files.ts'

/** Files in which secrets lie: those that nothing else is in, and what commands are shown in place of the others. */
export type KeyFileView = { readonly hidden: readonly string[]; readonly replaced: readonly Mount[] }

/**
 * What commands are to be shown of files at the top of roots that hold secrets.
 *
 * @param directory the run's own, for the texts without them
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

/** Keeps a text (latin1) under a name made from it: the same one is kept once. */
function keep(directory: string, text: string): string {
  // Loaded when it is needed, which in most runs it isn't: it takes longer than a command to be confined.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const source = join(directory, `shown-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`)
  if (!existsSync(source)) writeFileSync(source, Buffer.from(text, 'latin1'), { flag: 'wx', mode: 0o644 })
  return source
}
