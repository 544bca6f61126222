import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { openWithoutLinks } from './held-place.ts'
import { lutimesSync, mkdtempSync } from './host-paths.ts'
import { exchangeAttributes } from './helper/attributes.ts'
import { installHelper, requireArchitecture } from './helper/helper.ts'
import { removeTree } from './remove-tree.ts'

/** The modification time of an entry, in nanoseconds since 1970. */
type ModifiedAt = { readonly path: string; readonly modified: bigint }

/**
 * Sets the modification times of entries below a directory: to the nanosecond where the helper runs, elsewhere to the microsecond. Symlinks aren't
 * followed. An entry that is gone or belongs to somebody else keeps its time.
 *
 * @param folder an existing directory in which no command can write, for the helper
 * @param root an absolute path without symlinks; the entries' paths are relative to it
 * @internal
 */
export async function setModificationTimes(
  folder: string,
  root: string,
  entries: readonly ModifiedAt[],
): Promise<void> {
  if (entries.length === 0) return
  const place = mkdtempSync(join(folder, 'times-'))
  try {
    const helper = installHelper(requireArchitecture('bubblewrap', 'helper'), place, 0o500)
    const held = openWithoutLinks(root)
    if (held === undefined) return
    try {
      exchangeAttributes(
        [helper],
        [held.descriptor],
        entries.map((each) => ({ do: 'set-time', directory: 0, ...each })),
      )
    } finally {
      closeSync(held.descriptor)
    }
  } catch {
    // There is no helper for this system, or it can't be executed from this folder.
    for (const { path, modified } of entries) setRounded(join(root, path), Number(modified) / 1e9)
  } finally {
    await removeTree(place)
  }
}

function setRounded(path: string, seconds: number): void {
  try {
    lutimesSync(path, seconds, seconds)
  } catch {
    // The entry is gone, or belongs to somebody else.
  }
}
