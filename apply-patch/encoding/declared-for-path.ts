import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside, readSmallFile } from '../files/index.ts'
import type { Declaration } from './declared-in-text.ts'
import { matchesGlob } from './glob.ts'

/** Lines of a configuration file that are longer than this are ignored. */
const longestLine = 4096

/** A line of `.gitattributes` that sets or unsets the encoding of the files in the working tree. */
type AttributeLine = { readonly pattern: string; readonly label: string | undefined }
/** A section of `.editorconfig`. `charset` is undefined if the section doesn't set it. */
type Section = { readonly pattern: string; readonly charset: string | undefined }
type EditorConfig = { readonly isRoot: boolean; readonly sections: readonly Section[] }

/** The encodings that a repository's configuration declares for the files of a tree. Each configuration file is read once. */
export class PathDeclarations {
  readonly #root: string
  readonly #attributes = new Map<string, readonly AttributeLine[]>()
  readonly #editorConfigs = new Map<string, EditorConfig>()
  readonly #lineages = new Map<string, readonly string[]>()

  /** @param root the tree that a patch is for, as an absolute real path */
  constructor(root: string) {
    this.#root = root
  }

  /** What is declared for a file, given by its absolute path. */
  for(key: string): readonly Declaration[] {
    const directories = this.#lineage(dirname(key))
    return [...this.#byGit(key, directories), ...this.#byEditorConfig(key, directories)]
  }

  #byGit(key: string, directories: readonly string[]): readonly Declaration[] {
    const top = directories.at(-1) ?? '/'
    // The directory that is nearest to the file decides; the repository's own file, which isn't versioned, comes first of all.
    const files = [
      join(top, '.git/info/attributes'),
      ...directories.map((directory) => join(directory, '.gitattributes')),
    ]
    for (const file of files) {
      const from = file.endsWith('/.git/info/attributes') ? top : dirname(file)
      const found = this.#attributesIn(file).findLast(({ pattern }) =>
        matchesGlob(pattern, key.slice(slashed(from).length), false),
      )
      if (found !== undefined)
        return found.label === undefined ? [] : [{ label: found.label, by: '.gitattributes (working-tree-encoding)' }]
    }
    return []
  }

  #byEditorConfig(key: string, directories: readonly string[]): readonly Declaration[] {
    for (const directory of directories) {
      const { isRoot, sections } = this.#editorConfigIn(join(directory, '.editorconfig'))
      const path = key.slice(slashed(directory).length)
      const charset = sections.findLast(
        (one) => one.charset !== undefined && matchesGlob(one.pattern, path, true),
      )?.charset
      if (charset !== undefined)
        return charset === 'unset'
          ? []
          : [{ label: charset === 'utf-8-bom' ? 'utf-8' : charset, by: '.editorconfig (charset)' }]
      if (isRoot) return []
    }
    return []
  }

  /** The directory and those above it, up to the top of the repository or, if there is none, up to the root of the tree. */
  #lineage(directory: string): readonly string[] {
    const known = this.#lineages.get(directory)
    if (known !== undefined) return known
    const above: string[] = []
    let isInRepository = false
    for (let at = directory; !isInRepository; at = dirname(at)) {
      above.push(at)
      isInRepository = existsSync(join(at, '.git'))
      if (at === '/') break
    }
    const found = isInRepository ? above : above.filter((at) => isInside(at, this.#root))
    this.#lineages.set(directory, found)
    return found
  }

  #attributesIn(file: string): readonly AttributeLine[] {
    const known = this.#attributes.get(file) ?? linesOf(file).flatMap(parseAttributes)
    this.#attributes.set(file, known)
    return known
  }

  #editorConfigIn(file: string): EditorConfig {
    const known = this.#editorConfigs.get(file) ?? parseEditorConfig(linesOf(file))
    this.#editorConfigs.set(file, known)
    return known
  }
}

function slashed(directory: string): string {
  return directory === '/' ? '/' : `${directory}/`
}

function linesOf(file: string): readonly string[] {
  const text = readSmallFile(file)?.toString() ?? ''
  return text.split(/\r?\n/).filter((line) => line.length <= longestLine)
}

function parseAttributes(line: string): readonly AttributeLine[] {
  const text = line.trim()
  if (text === '' || text.startsWith('#') || text.startsWith('[attr]')) return []
  const quoted = /^"((?:[^"\\]|\\.){1,4000})"/.exec(text)
  const [pattern = '', length] =
    quoted === null ? [/^\S+/.exec(text)?.[0]] : [unquote(quoted[1] ?? ''), quoted[0].length]
  // A pattern that ends with a slash stands for a directory, and not for the files in it.
  if (pattern.endsWith('/')) return []
  const words = text.slice(length ?? pattern.length).split(/\s+/)
  const word = words.findLast((one) => /^[-!]?working-tree-encoding(?:=|$)/.test(one))
  if (word === undefined) return []
  const label = word.startsWith('working-tree-encoding=') ? word.slice('working-tree-encoding='.length) : undefined
  return [{ pattern, label }]
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

function parseEditorConfig(lines: readonly string[]): EditorConfig {
  let isRoot = false
  const sections: { pattern: string; charset: string | undefined }[] = []
  for (const line of lines) {
    const text = line.trim()
    if (text.startsWith('[') && text.includes(']')) {
      sections.push({ pattern: text.slice(1, text.lastIndexOf(']')), charset: undefined })
      continue
    }
    const at = text.indexOf('=')
    if (at === -1 || text.startsWith('#') || text.startsWith(';')) continue
    const name = text.slice(0, at).trim().toLowerCase()
    const value =
      text
        .slice(at + 1)
        .split(/\s[#;]/)[0]
        ?.trim()
        .toLowerCase() ?? ''
    const section = sections.at(-1)
    if (section === undefined) isRoot ||= name === 'root' && value === 'true'
    else if (name === 'charset') section.charset = value
  }
  return { isRoot, sections }
}
