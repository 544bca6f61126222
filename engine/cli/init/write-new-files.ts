import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { applyPatch, CommitError, PatchError, PathError, renderFailure } from '../../../apply-patch/index.ts'
import { UserError } from '../../core/user-error.ts'
import type { NewFile } from './beginnings.ts'

/**
 * Writes those of the files that don't exist, all of them or none. A file that exists is kept, whatever it is, and nothing is written through a link that leads
 * out of the tree.
 *
 * @returns the paths that were written, and those that were there
 * @throws UserError `usage` if they can't be written
 */
export async function writeNewFiles(
  root: string,
  files: readonly NewFile[],
): Promise<{ readonly written: readonly string[]; readonly kept: readonly string[] }> {
  const isThere = ({ path }: NewFile): boolean => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined
  const added = files.filter((file) => !isThere(file))
  const patch = added.map(({ path, text }) => `*** Add File: ${path}\n${text.replaceAll(/^(?!$(?![\s\S]))/gm, '+')}`)
  if (added.length > 0) await apply(`*** Begin Patch\n${patch.join('')}*** End Patch\n`, root)
  return { written: added.map(({ path }) => path), kept: files.filter(isKept(added)).map(({ path }) => path) }
}

async function apply(patch: string, root: string): Promise<void> {
  try {
    // In strict mode, a file that has appeared in the meantime is an error.
    await applyPatch(patch, { root, mode: 'strict' })
  } catch (error) {
    if (error instanceof PatchError || error instanceof CommitError || error instanceof PathError)
      throw new UserError('usage', `Nothing was written: ${renderFailure(error)}`, { cause: error })
    throw error
  }
}

function isKept(added: readonly NewFile[]): (file: NewFile) => boolean {
  return (file) => !added.includes(file)
}
