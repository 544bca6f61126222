import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readdirSync } from '../host-paths.ts'
import { isWithin } from '../paths.ts'

/** Whether a file name has the form that the build gives to chunks: files with code that modules share or load on demand. */
const isChunk = (name: string): boolean => /-[A-Z0-9]{8}\.js$/.test(name)

/**
 * Loads all code of this package before any command could change it. This is for programs that import the package. Our own programs don't need it,
 * because they have the digests of the code that they load later, and run no other code.
 *
 * @param roots the directories that commands may write to, without symlinks
 */
export async function loadOwnCode(roots: readonly string[]): Promise<void> {
  const folder = chunks()
  if (folder === undefined || !roots.some((root) => isWithin(folder, root))) return
  const files = readdirSync(folder).filter(isChunk)
  await Promise.all(files.map((name) => import(pathToFileURL(join(folder, name)).href)))
}

/** The folder that contains the chunks; undefined if this code is part of a program's bundle, or runs from its source file. */
function chunks(): string | undefined {
  if (!import.meta.url.startsWith('file:')) return undefined
  const file = fileURLToPath(import.meta.url)
  return isChunk(file) ? dirname(file) : undefined
}
