import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isWithin } from '../paths.ts'

/** The form of the names that the build gives to chunks, which are code shared by modules or loaded on demand. */
const isChunk = (name: string): boolean => /-[A-Z0-9]{8}\.js$/.test(name)

/**
 * Loads all code of this package before any command could change it. This is for programs that import the package. Our own programs don't need it:
 * they know the digests of the code that they load later, and evaluate no other code.
 *
 * @param roots what commands may write to, without symlinks
 */
export async function loadOwnCode(roots: readonly string[]): Promise<void> {
  const folder = chunks()
  if (folder === undefined || !roots.some((root) => isWithin(folder, root))) return
  const files = readdirSync(folder).filter(isChunk)
  await Promise.all(files.map((name) => import(pathToFileURL(join(folder, name)).href)))
}

/** The folder with the chunks of this code; undefined if this code is part of a program's bundle, or is a source file. */
function chunks(): string | undefined {
  if (!import.meta.url.startsWith('file:')) return undefined
  const file = fileURLToPath(import.meta.url)
  return isChunk(file) ? dirname(file) : undefined
}
