import { rmSync } from 'node:fs'
import { isOid } from './refs.ts'
import { replaceFile } from './replace-file.ts'
import { remember, same, type ImportSides, type Known } from './import-types.ts'

const largest = 16 * 1024 * 1024

/** Imports the boundary of a shallow history, which `fetch --depth` and `--unshallow` change. */
export function importShallow({ host, left, oidBytes }: ImportSides, known: Known): void {
  const now = left.read('shallow', largest)
  if (same(now, known.files.get('shallow')) || !same(host.read('shallow', largest), known.raw.get('shallow'))) return
  if (now === undefined) {
    rmSync(host.at('shallow'), { force: true })
    known.files.delete('shallow')
    known.raw.delete('shallow')
    return
  }
  const lines = now
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  if (!lines.every((line) => isOid(line, oidBytes))) return
  replaceFile(host, 'shallow', now)
  remember(known, 'shallow', now, now)
}
