import { expect, test } from 'vitest'
import { renderPatch, type RunChange } from '../../../engine/transaction/change-record.ts'
import { keepBytes } from '../../../engine/transaction/kept-files.ts'
import { lockedFolder } from './locked-folder.ts'

test('a file whose content before the run is unknown is named in the patch, but not as a new file', () => {
  const directory = lockedFolder()
  const after = { type: 'file', mode: 0o644, size: 4, hash: keepBytes(directory, Buffer.from('new\n')) } as const
  const changes: RunChange[] = [
    { root: '/w', path: 'unknown.txt', before: { type: 'file', mode: 0o644, size: 3, hash: null }, after },
    { root: '/w', path: 'added.txt', before: { type: 'absent' }, after },
  ]
  const [first, ...others] = renderPatch(directory, changes).split('\n')
  expect(first).toBe(
    '# "unknown.txt" is left out of this patch, because its content before or after the change is unknown',
  )
  expect(others.slice(0, 2)).toEqual(['diff --git a/added.txt b/added.txt', 'new file mode 100644'])
})
