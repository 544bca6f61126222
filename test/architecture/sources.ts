import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The repository's root, with a trailing slash. */
const root = new URL('../../', import.meta.url).pathname

/** The TypeScript sources below a folder, except in folders named `repository`, as paths relative to the repository's root. */
export function sources(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/repository/**'] }).toSorted()
}

const codeOf = new Map<string, string>()

/** A source's text with the same line numbers, without comments (except `//` after code). Strings are kept: the specifiers of imports are strings. */
export function code(file: string): string {
  const known = codeOf.get(file)
  if (known !== undefined) return known
  const text = withoutComments(textOf(file))
  codeOf.set(file, text)
  return text
}

/** The unchanged text of a source file. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ' '))
}

export type Import = {
  readonly specifier: string
  readonly line: number
  /** The imported file, relative to the repository's root; undefined for a package or a missing file. */
  readonly target: string | undefined
  /** The imported names: `['*']` for a whole module. */
  readonly names: readonly string[]
}

const importsOf = new Map<string, readonly Import[]>()

/** All imports, re-exports and `import()` calls of a file. This relies on prettier's formatting. */
export function imports(file: string): readonly Import[] {
  const known = importsOf.get(file)
  if (known !== undefined) return known
  const found = findImports(file)
  importsOf.set(file, found)
  return found
}

function findImports(file: string): readonly Import[] {
  const text = code(file)
  const found: Import[] = []
  const add = (specifier: string, index: number, names: readonly string[]): void => {
    const path = join(root, dirname(file), specifier)
    const target = specifier.startsWith('.') && existsSync(path) ? relative(root, path) : undefined
    found.push({ specifier, line: text.slice(0, index).split('\n').length, target, names })
  }
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s+)?([^'";]*?)\s+from\s+'([^']+)'/gm)) {
    add(match[3] ?? '', match.index, namesOf(match[2] ?? ''))
  }
  for (const match of text.matchAll(/^import\s+'([^']+)'/gm)) add(match[1] ?? '', match.index, [])
  for (const match of text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)) add(match[1] ?? '', match.index, ['*'])
  return found
}

/** The names that a file exports with a declaration or a local `export { … }`. */
export function exportedNames(file: string): readonly string[] {
  const text = code(file)
  const declared = [
    ...text.matchAll(
      /^export\s+(?:declare\s+)?(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)/gm,
    ),
  ].map((match) => match[1] ?? '')
  const listed = [...text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from)/gm)].flatMap((match) =>
    namesOf(`{${match[1] ?? ''}}`),
  )
  return [...new Set([...declared, ...listed])]
}

/** The top-level folder of a path. */
export function packageOf(path: string): string {
  return path.split('/')[0] ?? ''
}

function namesOf(clause: string): readonly string[] {
  const names: string[] = []
  const braces = /\{([^}]*)\}/.exec(clause)
  const outside = clause.replace(/\{[^}]*\}/, '')
  if (/\*/.test(outside)) names.push('*')
  else if (outside.replace(/[,\s]/g, '') !== '') names.push('default')
  for (const part of (braces?.[1] ?? '').split(',')) {
    const name = part
      .trim()
      .replace(/^type\s+/, '')
      .split(/\s+as\s+/)[0]
    if (name !== undefined && name !== '') names.push(name)
  }
  return names
}
