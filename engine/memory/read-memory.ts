import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { directoriesBetween, isInside } from '../core/directories-between.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { findImports } from './find-imports.ts'

/** An instruction file for the model. */
type MemorySource = {
  /** The real path of the file. */
  readonly path: string
  readonly text: string
  /** The file whose import led to this one; undefined if this file was found without an import. */
  readonly importedBy: string | undefined
}

/** The directories that are searched for instructions. */
export type MemoryPlaces = {
  /** The user's configuration folder. */
  readonly user: string
  /** The user's home directory, where other agents keep their instructions. */
  readonly home: string
  /** Codex's folder. Default: `.codex` in the home directory. */
  readonly codex?: string
  /** The repository's root; outside a repository, the workspace itself. */
  readonly root: string
  /** The directory the run works in, at or below the root. */
  readonly workspace: string
  /** Names of instruction files for directories without `AGENTS.md`. Default: none. */
  readonly fallbacks?: readonly string[] | undefined
  /** The size limit for the repository's instruction files together, in bytes. Default: `maxBytes`. */
  readonly limit?: number | undefined
}

/** The instructions, and which files were left out and why. The user must know if instructions are missing. */
export type Memory = {
  readonly sources: readonly MemorySource[]
  readonly omitted: readonly { readonly path: string; readonly reason: string }[]
}

/** An empty set of instructions. */
export const noMemory: Memory = { sources: [], omitted: [] }

/** Names of files in one directory. The first file with content is used. */
type Alternatives = readonly [string, ...string[]]

/**
 * The names of instruction files in a directory, in reading order. An `AGENTS.override.md` replaces the `AGENTS.md` next to it
 * (https://developers.openai.com/codex/guides/agents-md); `.claude/CLAUDE.md` and `CLAUDE.local.md` add to `CLAUDE.md`
 * (https://code.claude.com/docs/en/memory).
 */
const namesInDirectory: readonly [Alternatives, ...Alternatives[]] = [
  ['AGENTS.override.md', 'AGENTS.md'],
  ['CLAUDE.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
  ['GEMINI.md'],
]
/** The names of instruction files in the user's configuration folder for this program. */
const namesInConfig: readonly Alternatives[] = [['AGENTS.override.md', 'AGENTS.md'], ['CLAUDE.md'], ['GEMINI.md']]
/** The paths of the user's instruction files for other agents, relative to the home directory. These instructions apply to all repositories. */
const namesInHome: readonly [Alternatives, ...Alternatives[]] = [['.claude/CLAUDE.md'], ['.gemini/GEMINI.md']]
/**
 * The size limit, in bytes, for the user's instruction files taken together, and for the repository's. Codex has the same limit for project
 * documents.
 */
const maxBytes = 32 * 1024
/** How deeply imports may be nested. Claude Code has the same limit. */
const maxDepth = 5

/** Lists the paths at which instruction files may exist. Of the paths in an inner list, only the first file with content is used. */
export function memoryFiles(where: MemoryPlaces): {
  readonly user: readonly (readonly string[])[]
  readonly repository: readonly (readonly string[])[]
} {
  const named = (directory: string, lists: readonly Alternatives[]): readonly (readonly string[])[] =>
    lists.map((names) => names.map((name) => join(directory, name)))
  const [[first, ...more], ...others] = namesInDirectory
  const [ofClaude, ...ofOthers] = namesInHome
  const inDirectory: readonly Alternatives[] = [[first, ...more, ...(where.fallbacks ?? [])], ...others]
  return {
    user: [
      ...named(where.home, [ofClaude]),
      ...named(codexFolder(where), [['AGENTS.override.md', 'AGENTS.md']]),
      ...named(where.home, ofOthers),
      ...named(where.user, namesInConfig),
    ],
    repository: directoriesBetween(where.root, where.workspace).flatMap((directory) => named(directory, inDirectory)),
  }
}

/**
 * Reads the instructions for a run: first the user's instructions for other agents, then the user's instructions for this program, then
 * those of each directory from the repository's root down to the workspace. Each file is followed by its `@path` imports. Files of a
 * repository may import only from that repository, and links that lead out of it are not followed: a repository must not choose which of
 * the user's files the model reads.
 *
 * @param hidden takes the real path of a file in the repository and returns why it must not be read, or undefined. Default: no file is
 *   hidden
 */
export function readMemory(
  where: MemoryPlaces,
  hidden: (path: string) => string | undefined = () => undefined,
): Memory {
  const files = memoryFiles(where)
  const seen = new Set<string>()
  const user = new MemoryReader(where.home, seen, [])
  const roots = [where.user, where.home, codexFolder(where)]
  for (const paths of files.user) user.readFirst(paths, { roots, hidden: () => undefined })
  const repository = new MemoryReader(where.home, seen, user.sources, where.limit)
  for (const paths of files.repository) repository.readFirst(paths, { roots: [where.root], hidden })
  return {
    sources: [...user.sources, ...repository.sources],
    omitted: [...user.omitted, ...repository.omitted],
  }
}

/** Leaves files out of instructions: those of a repository that its commands aren't shown, because they hold secrets. */
export function withoutSecrets({ sources, omitted }: Memory, secrets: readonly string[]): Memory {
  const hidden = new Set(secrets.flatMap((path) => [path, realPath(path) ?? path]))
  const reason = "it holds a secret and git doesn't track it; to show it, name it with --allow-read"
  return {
    sources: sources.filter(({ path }) => !hidden.has(path)),
    omitted: [...omitted, ...sources.flatMap(({ path }) => (hidden.has(path) ? [{ path, reason }] : []))],
  }
}

function codexFolder({ codex, home }: MemoryPlaces): string {
  return codex ?? join(home, '.codex')
}

/** What a file may import: only files in the folders `roots`. `hidden` gives the reason why a file must not be read; undefined if it may be read. */
type Bounds = { readonly roots: readonly string[]; readonly hidden: (path: string) => string | undefined }

class MemoryReader {
  readonly sources: MemorySource[] = []
  readonly omitted: { path: string; reason: string }[] = []
  readonly #home: string
  readonly #seen: Set<string>
  readonly #told: readonly MemorySource[]
  readonly #limit: number
  #bytes = 0

  /**
   * @param home the directory that `~` refers to in an import
   * @param seen the real paths that this reader and others have already read
   * @param told files that the model gets before those of this reader; a file with the same text as one of them is skipped
   * @param limit the size limit for all files together, in bytes
   */
  constructor(home: string, seen: Set<string>, told: readonly MemorySource[], limit = maxBytes) {
    this.#home = home
    this.#limit = limit
    this.#seen = seen
    this.#told = told
  }

  /** Reads the first of the given files that has content. */
  readFirst(paths: readonly string[], bounds: Bounds): void {
    for (const path of paths) if (this.read(path, bounds)) return
  }

  /**
   * Reads a file and its imports. A missing file is reported only if another file imports it.
   *
   * @returns false if the file is missing, empty or omitted; true if it was read, if it had been looked at before, or if an earlier file has the
   *   same text
   */
  read(path: string, bounds: Bounds, importedBy?: string, depth = 0): boolean {
    const { roots } = bounds
    const real = realPath(path)
    if (real === undefined) {
      if (importedBy !== undefined) this.#omit(path, `${importedBy} imports this file, which doesn't exist`)
      return false
    }
    if (!roots.some((root) => isInside(real, realPath(root) ?? root))) {
      return this.#omit(path, `it resolves to ${real}, which is outside ${roots.join(' and ')}`)
    }
    if (this.#seen.has(real)) return true
    this.#seen.add(real)
    const reason = bounds.hidden(real)
    if (reason !== undefined) return this.#omit(path, reason)
    if (depth > maxDepth) return this.#omit(path, `imports are nested more than ${maxDepth} levels deep`)
    const text = readPlainFile(real, this.#limit - this.#bytes)
    if (typeof text !== 'string') return this.#omit(path, text.reason)
    // An empty file adds nothing, and neither does a file with the same text as an earlier one, such as a CLAUDE.md that repeats AGENTS.md.
    if (text.trim() === '') return false
    if ([...this.#told, ...this.sources].some((source) => source.text === text)) return true
    this.#bytes += Buffer.byteLength(text)
    this.sources.push({ path: real, text, importedBy })
    for (const imported of findImports(text)) {
      const target = imported.startsWith('~/') ? join(this.#home, imported.slice(2)) : resolve(dirname(real), imported)
      this.read(target, bounds, real, depth + 1)
    }
    return true
  }

  #omit(path: string, reason: string): false {
    this.omitted.push({ path, reason })
    return false
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // The file is missing or can't be accessed. In both cases there is nothing to read.
    return undefined
  }
}
