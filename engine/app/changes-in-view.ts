import { basename } from 'node:path'
import { runsLater } from '../../sandbox/index.ts'
import type { Changes } from '../core/changes/change-watch.ts'
import type { FileChange, Patched } from '../core/changes/compose.ts'
import { isHarmlessManifest } from '../core/changes/manifests.ts'
import { kindOf, type ChangeRecord, type RunChange } from '../transaction/change-record.ts'
import { keptBytes } from '../transaction/kept-files.ts'

/** What a run changed in its view, for its summary. `patched`: the files that its patches changed; commands changed the others. */
export function changesOf(directory: string, record: ChangeRecord, patched: Patched): Changes {
  const files = record.changes.filter(({ before, after }) => before.type !== 'directory' && after.type !== 'directory')
  const asChange = (change: RunChange): FileChange => {
    const path = `${change.root}/${change.path}`
    return { path, kind: kindOf(change), ...(patched.has(path) ? {} : { by: 'command' }) }
  }
  return {
    files: files.filter(({ ignored }) => ignored !== true).map(asChange),
    runsLater: files.flatMap((change) => {
      if (change.ignored === true && change.path.includes('/')) return []
      const { path, kind } = asChange(change)
      const program = runsLater(path, change.root)
      return program === undefined || isHarmless(directory, change) ? [] : [{ path, kind, program }]
    }),
    notCounted: undefined,
  }
}

/** Whether a change to a package.json certainly doesn't affect what runs. */
function isHarmless(directory: string, { path, before, after }: RunChange): boolean {
  if (basename(path) !== 'package.json' || before.type !== 'file' || after.type !== 'file') return false
  if (before.hash === null || after.hash === null) return false
  return isHarmlessManifest(keptBytes(directory, before.hash).toString(), keptBytes(directory, after.hash).toString())
}
