import { basename, dirname, extname } from 'node:path/posix'
import { filesInText, placesOf, programOf, wordsOf, type NamingText } from './files-in-text.ts'

/** Changed files that may belong to the judge, and may as well be what is tested. */
export type JudgedApart = {
  /** Those that the command or its configuration names. */
  readonly named: readonly string[]
  /** Those that only tests and such files import, in groups: what isn't in the same group doesn't need each other. */
  readonly groups: readonly (readonly string[])[]
  /** Whether the groups are beside the entry points of a package, in directories of its own. */
  readonly arePackage: boolean
}

/** A text that says what is run, and the file from which it is, if it is from one. */
export type RunText = NamingText & { readonly file?: string }

/** What is known of the base. Paths are relative to its root. */
type KnownTree = {
  readonly files: readonly string[]
  /** The directory in which the command runs. */
  readonly cwd: string
  /** Reads a file, if it is no data. */
  readonly read: (path: string) => string | undefined
  /** Reads a file that only the run has. */
  readonly readNew: (path: string) => string | undefined
  /** Where a link leads; undefined if there is no link at a path. */
  readonly targetOf: (path: string) => string | undefined
  /** Whether a file contains tests. */
  readonly hasTests: (path: string) => boolean
  /** Whether a file is a test, or something that only tests use. */
  readonly isTest: (path: string) => boolean
  /** Whether a file is neither a test nor decides what is run. */
  readonly isSource: (path: string) => boolean
  /** What the manifests say of where packages begin. */
  readonly entries: readonly NamingText[]
}

/**
 * Finds the changed files that may decide what is tested, as a script, a plugin, a setup file, a program that is found on `PATH`, or a helper with assertions,
 * wherever they are. A file that the package's entry points, or sources that no test reaches, import is no such file.
 *
 * @param paths the changed files that are neither tests nor configuration; a base may lack them
 * @param texts the command, what it runs, and its configuration
 */
export function judgedApart(paths: readonly string[], texts: readonly RunText[], tree: KnownTree): JudgedApart {
  const all = [...new Set([...tree.files, ...paths])]
  const places = placesOf(all)
  const { cwd, targetOf, hasTests, isTest, isSource } = tree
  const inText = (text: NamingText, as: 'exact' | 'module' | 'loose'): ReadonlySet<string> =>
    filesInText(text, places, { cwd, targetOf, as })
  const named = new Set(texts.flatMap((each) => [...inText(each, 'exact')]))
  const programs = new Set(texts.flatMap(({ text }) => wordsOf(text).filter((word) => !word.includes('/'))))
  const isNear = (path: string): boolean => ['.', cwd].includes(dirname(path))
  for (const path of all)
    if (programs.has(basename(path)) || (isNear(path) && programs.has(programOf(path)))) named.add(path)
  const direct = paths.filter((path) => named.has(path))
  const rest = paths.filter((path) => !named.has(path))
  if (rest.length === 0) return { named: direct, groups: [], arePackage: false }

  const inPackage = openGoPackages(all, tree)
  const importsOf = remembered((path: string, as: 'module' | 'loose'): readonly string[] => {
    const text = tree.read(path)
    return text === undefined ? [] : [...inPackage(path, text), ...inText({ folder: dirname(path), text }, as)]
  })
  const configuring = new Set(texts.map(({ file }) => file))
  const isRoot = (path: string): boolean => isTest(path) || named.has(path) || configuring.has(path)
  const roots = all.filter(isRoot)
  const ofTests = closure(
    [...roots, ...texts.flatMap((each) => [...inText(each, 'loose')])],
    (path) => importsOf(path, 'loose'),
    () => true,
  )
  // What is in another language than tests and what they import, such as documentation, uses nothing.
  const isCode = (path: string): boolean => hasTests(path) || isSource(path)
  const endings = new Set([...ofTests].filter(isCode).map((path) => extname(path)))
  const others = tree.files.filter((path) => isSource(path) && !ofTests.has(path) && endings.has(extname(path)))
  const entries = tree.entries.flatMap((each) => [...inText(each, 'module')])
  const packages = entries.map((path) => `${dirname(path)}/`)
  const ofPackage = closure(
    [...others, ...entries],
    (path) => importsOf(path, 'module'),
    (path) => !isRoot(path),
  )
  const apart = rest.filter((path) => ofTests.has(path) && !ofPackage.has(path))
  const importers = new Map<string, string[]>()
  for (const path of apart.length < 2 ? [] : ofTests) {
    if (isRoot(path) || ofPackage.has(path)) continue
    for (const each of importsOf(path, 'module')) importers.set(each, [...(importers.get(each) ?? []), path])
  }
  return {
    named: direct,
    groups: groupsOf(apart, (path) => importers.get(path) ?? []),
    arePackage: apart.every((path) => packages.some((folder) => path.startsWith(folder))),
  }
}

function remembered<As extends string, Result>(
  find: (path: string, as: As) => Result,
): (path: string, as: As) => Result {
  const known = new Map<string, Result>()
  return (path, as) => {
    const key = `${as} ${path}`
    const found = known.has(key) ? (known.get(key) as Result) : find(path, as)
    known.set(key, found)
    return found
  }
}

/** Finds the files of a package of go that another one of it uses. They need no import, so what they declare is looked for. */
function openGoPackages(all: readonly string[], { files, read, readNew }: KnownTree) {
  const isGo = (path: string): boolean => path.endsWith('.go')
  const packages = Map.groupBy(all.filter(isGo), dirname)
  const known = new Set(files)
  const declared = remembered((path: string, _: 'go') => {
    const text = known.has(path) ? read(path) : readNew(path)
    return (text ?? '').split('\n').flatMap(declaredIn)
  })
  return (path: string, text: string): readonly string[] => {
    if (!isGo(path)) return []
    const words = new Set(text.split(/\W+/))
    const own = new Set(declared(path, 'go'))
    return (packages.get(dirname(path)) ?? []).filter((each) =>
      declared(each, 'go').some((name) => {
        const isAlways = name === '(' || name === 'init'
        // A new file isn't used yet, but what has moved to it can't be in both. What is declared in a list, or runs at the start, counts as used.
        return known.has(each) ? isAlways || words.has(name) : !isAlways && own.has(name)
      }),
    )
  }
}

/** The name that a line of go declares for the whole package; a parenthesis for a list of names. */
function declaredIn(line: string): readonly string[] {
  const word = ['func ', 'type ', 'var ', 'const '].find((each) => line.startsWith(each))
  if (word === undefined) return []
  const rest = line.slice(word.length)
  if (!rest.startsWith('(')) return [rest.split(/\W/)[0] ?? '']
  return word === 'func '
    ? [
        rest
          .slice(rest.indexOf(')') + 1)
          .trim()
          .split(/\W/)[0] ?? '',
      ]
    : ['(']
}

/** Everything that is reached from some files, these included. */
function closure(
  from: readonly string[],
  next: (path: string) => readonly string[],
  isWanted: (path: string) => boolean,
): ReadonlySet<string> {
  const found = new Set(from.filter(isWanted))
  for (const path of found) for (const each of next(path)) if (isWanted(each)) found.add(each)
  return found
}

/** Puts files into one group that one file, or one of them, imports. */
function groupsOf(
  paths: readonly string[],
  importersOf: (path: string) => readonly string[],
): readonly (readonly string[])[] {
  const groups: { readonly paths: string[]; readonly above: Set<string> }[] = []
  for (const path of paths) {
    const above = new Set(closure([path], importersOf, () => true))
    const near = groups.filter((group) => [...group.above].some((each) => above.has(each)))
    for (const group of near) groups.splice(groups.indexOf(group), 1)
    groups.push({
      paths: [...near.flatMap((group) => group.paths), path],
      above: new Set([...above, ...near.flatMap((group) => [...group.above])]),
    })
  }
  return groups.map((group) => group.paths)
}

/**
 * The parts of a change that are left out one after the other, so that of any two groups each is seen with the old version of the other.
 *
 * @param hasOthers whether the change has something besides these groups
 * @returns what stays as in the base, for one run, or for two that are the opposite of each other
 */
export function variantsOf(
  groups: readonly (readonly string[])[],
  hasOthers: boolean,
): readonly (readonly (readonly string[])[])[] {
  const bits = groups.length < 2 ? 0 : Math.ceil(Math.log2(groups.length))
  const halves = Array.from({ length: bits }, (_, bit) =>
    [0, 1].map((half) => groups.filter((_group, index) => ((index >> bit) & 1) === half).flat()),
  )
  return [...(hasOthers && groups.length > 0 ? [[groups.flat()]] : []), ...halves]
}
