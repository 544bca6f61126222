import { basename, dirname, extname, join, normalize } from 'node:path/posix'

/** A text that may name files, and the directory from which its paths lead. */
export type NamingText = { readonly folder: string; readonly text: string }

/** The files of a tree by the last part of each name that a text may have for them. */
type Places = ReadonlyMap<string, readonly Place[]>
type Place = { readonly name: string; readonly path: string }

/** How a text is read. */
type Reading = {
  /** The directory in which the command runs. */
  readonly cwd: string
  /** Where a link leads; undefined if there is no link at a path. */
  readonly targetOf: (path: string) => string | undefined
  /**
   * `exact`: paths from the root, from where the command runs, and from the directory of the text. `module`: what is imported, also from a directory that the
   * text doesn't name. `loose`: both, and paths put together from words that stand apart, as in `join(root, 'tools', 'x')`.
   */
  readonly as: 'exact' | 'module' | 'loose'
}

/** Finds the files that a text names. Text that only looks like a name counts too. */
export function filesInText({ folder, text }: NamingText, places: Places, reading: Reading): ReadonlySet<string> {
  const found = new Set<string>()
  const words = new Set(wordsOf(text))
  const starts = [...new Set(['', reading.cwd, folder])]
  const imported =
    reading.as === 'exact' ? new Set<string>() : new Set(text.split('\n').flatMap((line) => importedIn(line)))
  for (const word of words) {
    if (reading.as === 'module' && /^\w+$/.test(word) && !imported.has(word)) continue
    for (const each of readingsOf(word)) {
      for (const { name, path } of placesFor(each, starts, places, reading)) {
        const isNamed = starts.some((start) => normalize(join(start, each)) === name)
        const isModule = reading.as !== 'exact' && !word.startsWith('.') && isModuleAt(each, name, imported)
        const isPutTogether = reading.as === 'loose' && !word.includes('/') && isWhole(path, starts, words)
        if (isNamed || isModule || isPutTogether) found.add(path)
      }
    }
  }
  return found
}

/** The program after which a file is named that it reads, as `flow` for `flow.config.js` and `Flowfile`. */
export function programOf(path: string): string {
  const [stem = ''] = basename(path).toLowerCase().split('.')
  return stem.replace(/file$/, '')
}

function placesFor(word: string, starts: readonly string[], places: Places, { targetOf }: Reading): readonly Place[] {
  const there = places.get(basename(word)) ?? []
  const links = there.filter(({ name, path }) => name === path)
  const targets = links.flatMap(({ path }) => {
    const target = starts.some((start) => normalize(join(start, word)) === path) ? targetOf(path) : undefined
    return target === undefined ? [] : [{ name: path, path: target }]
  })
  return [...there, ...targets]
}

/** What a word may stand for: a path, or a module whose name has dots in place of slashes. */
function readingsOf(word: string): readonly string[] {
  const path = word.replace(/^\/+/, '')
  if (!/^\.{0,9}\w+(?:\.\w+)*$/.test(word)) return path === '' ? [] : [path]
  const dots = word.length - word.replace(/^\.+/, '').length
  const module = `${'../'.repeat(Math.max(0, dots - 1))}${word.slice(dots).replaceAll('.', '/')}`
  return [...new Set([path, module])]
}

/**
 * Whether a word names a module by the end of its path, as where a setting says in which directories modules are; by what follows a sign, as in `@/lib/total`; or
 * by what follows the module's name, as in go.
 */
function isModuleAt(word: string, name: string, imported: ReadonlySet<string>): boolean {
  if (!word.includes('/')) return (word.includes('.') || imported.has(word)) && name.endsWith(`/${word}`)
  if (name.endsWith(`/${word}`) || word.endsWith(`/${name}`)) return true
  const [first = '', ...inside] = word.split('/')
  return !/^[\w.]*$/.test(first) && `/${name}`.endsWith(`/${inside.join('/')}`)
}

/** The words of a line that imports something. */
function importedIn(line: string): readonly string[] {
  return /^\s{0,40}(?:pub )?(?:import|from|use|mod)\s/.test(line) ? wordsOf(line) : []
}

function isWhole(path: string, starts: readonly string[], words: ReadonlySet<string>): boolean {
  return starts
    .filter((start) => start === '' || path.startsWith(`${start}/`))
    .some((start) => {
      const between = dirname(path.slice(start === '' ? 0 : start.length + 1))
      return between === '.' || between.split('/').every((each) => words.has(each))
    })
}

/** The words of a text that may be paths. A variable in front of a path is a directory that isn't known. */
export function wordsOf(text: string): readonly string[] {
  const words = text.replace(/\$\w+\//g, ' ').split(/[\s;&|()<>"'`$={},:[\]]+/)
  return words.filter((word) => word !== '' && Buffer.byteLength(word) <= longestPath)
}

/** No file system allows a longer name of a file, in bytes. */
const longestPath = 255

export function placesOf(paths: readonly string[]): Places {
  const places = new Map<string, Place[]>()
  for (const path of paths) {
    for (const name of namesOf(path)) {
      const there = places.get(basename(name))
      if (there === undefined) places.set(basename(name), [{ name, path }])
      else there.push({ name, path })
    }
  }
  return places
}

/** A file's path, also without an ending, and the directory that it stands for. */
function namesOf(path: string): readonly string[] {
  const [folder, ending] = [dirname(path), extname(path)]
  const stem = path.slice(0, path.length - ending.length)
  const standsFor = (): string | undefined => {
    if (folder === '.') return undefined
    if (['index', '__init__', '__main__'].includes(basename(stem)) || ending === '.go') return folder
    const isCrate = path.endsWith('/src/lib.rs')
    return isCrate || basename(path) === 'mod.rs'
      ? (isCrate ? dirname(folder) : folder).replaceAll('-', '_')
      : undefined
  }
  const whole = standsFor()
  return [...new Set([path, stem, ...(whole === undefined ? [] : [whole])])]
}
