import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isWithin } from '../paths.ts'

/** How the build names what the package's modules share, and what they load when it is needed. */
const isChunk = (name: string): boolean => /-[A-Z0-9]{8}\.js$/.test(name)

/**
 * Loads all code of this package before commands run that could change it. For who imports the package: the programs know the digests of
 * what they load later, and nothing of it is evaluated otherwise.
 *
 * @param roots what commands may write to, without symlinks
 */
export async function loadOwnCode(roots: readonly string[]): Promise<void> {
  const folder = chunks()
  if (folder === undefined || !roots.some((root) => isWithin(folder, root))) return
  const files = readdirSync(folder).filter(isChunk)
  await Promise.all(files.map((name) => import(pathToFileURL(join(folder, name)).href)))
}

/** The folder of chunks that this code is one of; undefined where it is part of a program, or a source. */
function chunks(): string | undefined {
  if (!import.meta.url.startsWith('file:')) return undefined
  const file = fileURLToPath(import.meta.url)
  return isChunk(file) ? dirname(file) : undefined
}
