import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeDirectory } from '../../sandbox/index.ts'
import { directoriesBetween, isInside } from '../core/paths.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { findImports } from './find-imports.ts'

/** A file of instructions that the model is told. */
type MemorySource = {
  /** Real path. */
  readonly path: string
  readonly text: string
  /** The file that imported it; undefined for one that was found by its name. */
  readonly importedBy: string | undefined
}

/** Where instructions are looked for. */
export type MemoryPlaces = {
  /** The user's configuration folder. */
  readonly user: string
  /** The repository's root, or the workspace itself outside any. */
  readonly root: string
  /** The directory the run works in, at or below the root. */
  readonly workspace: string
}

/** What was read, and what was left out and why: instructions that go missing silently are worse than none. */
export type Memory = {
  readonly sources: readonly MemorySource[]
  readonly omitted: readonly { readonly path: string; readonly reason: string }[]
}

/** The names instructions go by, in the order they are read. */
export const memoryNames = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const
/** All sources together: what Codex gives project documents. */
const maxBytes = 32 * 1024
/** How deep imports may nest: what Claude Code allows. */
const maxDepth = 5

/**
 * Reads the instructions for a run: the user's own, then those of each directory from the repository's root down to the
 * workspace, each followed by what it imports with `@path`. Files of a repository may import from that repository only, and a
 * link that leads out of it is not followed: the model must not be made to read what the repository chose.
 *
 * @param hidden why a file of the repository is not to be read at all, by its real path. Default: none is hidden
 */
export function readMemory(
  where: MemoryPlaces,
  hidden: (path: string) => string | undefined = () => undefined,
): Memory {
  const reader = new MemoryReader()
  for (const name of memoryNames)
    reader.read(join(where.user, name), { roots: [where.user, homeDirectory()], hidden: () => undefined })
  for (const directory of directoriesBetween(where.root, where.workspace)) {
    for (const name of memoryNames) reader.read(join(directory, name), { roots: [where.root], hidden })
  }
  return { sources: reader.sources, omitted: reader.omitted }
}

/** What a file may bring along: what lies in these folders, and is not hidden for a reason. */
type Bounds = { readonly roots: readonly string[]; readonly hidden: (path: string) => string | undefined }

class MemoryReader {
  readonly sources: MemorySource[] = []
  readonly omitted: { path: string; reason: string }[] = []
  readonly #seen = new Set<string>()
  #bytes = 0

  /** Reads a file and what it imports. A file that isn't there is no news, unless another one asked for it. */
  read(path: string, bounds: Bounds, importedBy?: string, depth = 0): void {
    const { roots } = bounds
    const real = realPath(path)
    if (real === undefined) {
      if (importedBy !== undefined) this.#omit(path, `${importedBy} imports it, and it is not there`)
      return
    }
    if (!roots.some((root) => isInside(real, realPath(root) ?? root))) {
      return this.#omit(path, `it leads to ${real}, outside ${roots.join(' and ')}`)
    }
    if (this.#seen.has(real)) return
    this.#seen.add(real)
    const reason = bounds.hidden(real)
    if (reason !== undefined) return this.#omit(path, reason)
    if (depth > maxDepth) return this.#omit(path, `imports nest deeper than ${maxDepth}`)
    const text = readPlainFile(real, maxBytes - this.#bytes)
    if (typeof text !== 'string') return this.#omit(path, text.reason)
    // A CLAUDE.md that repeats AGENTS.md word for word says nothing new.
    if (text.trim() === '' || this.sources.some((source) => source.text === text)) return
    this.#bytes += Buffer.byteLength(text)
    this.sources.push({ path: real, text, importedBy })
    for (const imported of findImports(text)) {
      const target = imported.startsWith('~/')
        ? join(homeDirectory(), imported.slice(2))
        : resolve(dirname(real), imported)
      this.read(target, bounds, real, depth + 1)
    }
  }

  #omit(path: string, reason: string): void {
    this.omitted.push({ path, reason })
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // Missing, or on a way that can't be walked: not there for us either way.
    return undefined
  }
}
