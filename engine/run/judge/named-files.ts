import { basename, dirname, extname, join, normalize } from 'node:path/posix'

/** `direct`: what a command or its configuration names; `imported`: what those files import. */
export type NamedFiles = { readonly direct: readonly string[]; readonly imported: readonly string[] }

/** A text that says what is run, the directory from which its paths lead, and the file from which it is, if it is from one. */
export type NamingText = { readonly folder: string; readonly text: string; readonly file?: string }

/** What is known of a tree. Paths are relative to its root. */
type NamingTree = {
  readonly files: readonly string[]
  /** The directory in which the command runs. */
  readonly cwd: string
  /** Reads a file, if it is no data. */
  readonly read: (path: string) => string | undefined
  /** Where a link leads; undefined if there is no link at a path. */
  readonly targetOf: (path: string) => string | undefined
  /** Whether a file contains tests. */
  readonly hasTests: (path: string) => boolean
  /** Whether a file may import others for another purpose than to configure what is run. */
  readonly isCode: (path: string) => boolean
}

/**
 * The files that a command or its configuration names (a script, a plugin, a setup file, a program that is found on `PATH`), and what those import, except
 * for what anything else imports too. Such a file may decide what is tested, and it may as well be what is tested.
 *
 * @param paths the files that matter; a tree may lack them
 * @param texts the command, what it runs, and its configuration
 */
export function namedFiles(paths: readonly string[], texts: readonly NamingText[], tree: NamingTree): NamedFiles {
  const all = [...new Set([...tree.files, ...paths])]
  const places = placesOf(all)
  const direct = new Set(texts.flatMap((each) => namedBy(each, places, tree, false)))
  const programs = new Set(texts.flatMap(({ text }) => wordsOf(text).filter((word) => !word.includes('/'))))
  for (const path of all) if (programs.has(basename(path))) direct.add(path)
  const configuring = new Set(texts.map(({ file }) => file))
  const isOther = (path: string, found: ReadonlySet<string>): boolean =>
    tree.isCode(path) && !configuring.has(path) && (tree.hasTests(path) || !found.has(path))
  const shared = new Set<string>()
  for (;;) {
    const found = reachedFrom(texts, direct, shared, places, tree)
    const imported = paths.filter((path) => found.has(path) && !direct.has(path))
    const others = all.filter((path) => isOther(path, found))
    const before = shared.size
    if (imported.length > 0) for (const path of importedElsewhere(found, others, places, tree)) shared.add(path)
    if (shared.size === before) return { direct: paths.filter((path) => direct.has(path)), imported }
  }
}

/** The files of a tree by each text that may stand for them. */
type Places = ReadonlyMap<string, readonly string[]>

/** Follows what files import. What is shared with anything else is where the tools end and what is tested begins. */
function reachedFrom(
  texts: readonly NamingText[],
  direct: ReadonlySet<string>,
  shared: ReadonlySet<string>,
  places: Places,
  tree: NamingTree,
): ReadonlySet<string> {
  const found = new Set(direct)
  const follow = (text: NamingText): void => {
    for (const path of namedBy(text, places, tree, true)) if (!shared.has(path)) found.add(path)
  }
  for (const text of texts) follow(text)
  for (const path of found) {
    const text = tree.hasTests(path) || shared.has(path) ? undefined : tree.read(path)
    if (text !== undefined) follow({ folder: dirname(path), text })
  }
  return found
}

/** Those files of a set that one of some others names. */
function importedElsewhere(
  found: ReadonlySet<string>,
  others: readonly string[],
  places: Places,
  tree: NamingTree,
): readonly string[] {
  const stems = [...found].map((path) => basename(namesOf(path).at(-1) ?? path))
  return others.flatMap((path) => {
    const text = tree.read(path)
    if (text === undefined || !stems.some((stem) => text.includes(stem))) return []
    return namedBy({ folder: dirname(path), text }, places, tree, false).filter((each) => found.has(each))
  })
}

/**
 * The files that a text names.
 *
 * @param isPutTogether whether a path may be put together from words that stand apart, as in `join(root, 'tools', 'x')`
 */
function namedBy(
  { folder, text }: NamingText,
  places: Places,
  { cwd, targetOf }: NamingTree,
  isPutTogether: boolean,
): readonly string[] {
  const words = new Set(wordsOf(text))
  const found = new Set<string>()
  for (const word of words) {
    const isModule = /^\.{0,9}\w+(?:\.\w+)*$/.test(word)
    const module = isModule ? [word.replace(/^\.+/, '').replaceAll('.', '/')] : []
    for (const each of [word.replace(/^\/+/, ''), ...module]) {
      for (const start of ['', cwd, folder]) {
        const place = normalize(join(start, each))
        const target = word.includes('/') || places.has(place) ? targetOf(place) : undefined
        for (const path of places.get(target ?? place) ?? []) found.add(path)
      }
    }
    if (!isPutTogether || word.includes('/')) continue
    for (const path of places.get(`/${word}`) ?? []) {
      const starts = ['', cwd, folder].filter((start) => start === '' || path.startsWith(`${start}/`))
      const isWhole = (start: string): boolean => {
        const between = dirname(path.slice(start === '' ? 0 : start.length + 1))
        return between === '.' || between.split('/').every((each) => words.has(each))
      }
      if (starts.some(isWhole)) found.add(path)
    }
  }
  return [...found]
}

/** The words of a text that may be paths. A variable in front of a path is a directory that isn't known. */
function wordsOf(text: string): readonly string[] {
  const words = text.replace(/\$\w+\//g, ' ').split(/[\s;&|()<>"'`$={},:[\]]+/)
  return words.filter((word) => Buffer.byteLength(word) <= longestPath)
}

/** No file system allows a longer name of a file, in bytes. */
const longestPath = 255

/** Files by their paths, also without an ending or without the name that stands for a directory; and, after a slash, by the last part of those. */
function placesOf(paths: readonly string[]): Places {
  const places = new Map<string, string[]>()
  for (const path of paths) {
    for (const name of namesOf(path)) {
      for (const each of [name, `/${basename(name)}`]) {
        const there = places.get(each)
        if (there === undefined) places.set(each, [path])
        else there.push(path)
      }
    }
  }
  return places
}

function namesOf(path: string): readonly string[] {
  const stem = path.slice(0, path.length - extname(path).length)
  const isWhole = ['index', '__init__', '__main__'].includes(basename(stem)) && stem.includes('/')
  return [...new Set([path, stem, ...(isWhole ? [dirname(path)] : [])])]
}
