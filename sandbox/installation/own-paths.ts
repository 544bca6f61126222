import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { lstatSync, readEntriesSync, type HostEntry, readFileSync, realpathSync } from '../host-paths.ts'
import { symlinksOnPath } from '../symlinks-on-path.ts'
import { isWithin } from '../paths.ts'

/** The files of this program that a command could change. The directories in their paths are not symlinks. */
type OwnPaths = {
  /** The program's own files, the links that lead to them, and the executable of Node. */
  readonly program: readonly string[]
  /** Files that decide which program `npx agent` starts and with which options, whether they exist now or not. */
  readonly start: readonly string[]
}

/** Whether the program needs a file. It needs neither source maps nor type declarations; the texts of licenses must stay with the code that they are about. */
const isNeeded = (name: string): boolean => !name.endsWith('.map')

/** File names in `node_modules/.bin`: our own programs, and the programs that `npx` uses to start them. */
const programs = ['agent', 'apply-patch', 'portcullis', 'node', 'sh']

/**
 * The files of this program that are in one of `roots`, and the files that decide how it is started. If no file of the program is in a root, both
 * lists are empty, because a command then can't change what is started next.
 *
 * @param roots the directories that commands may write to, without symlinks
 */
export function ownPaths(roots: readonly string[]): OwnPaths {
  const isInRoot = (path: string): boolean => roots.some((root) => path !== root && isWithin(path, root))
  const home = packageDirectory()
  if (home === undefined) return { program: [], start: [] }
  const [started = ''] = process.argv.slice(1)
  const isOurs = started !== '' && isWithin(realPath(started) ?? '/', home)
  const folders = packageFolders([home, ...(isOurs ? [resolve(started)] : [])])
  const links = [...(isOurs ? [resolve(started)] : []), ...folders.map((folder) => join(folder, 'portcullis'))]
  const program = [...filesOf(home, isInRoot), ...links.flatMap(symlinksOnPath), process.execPath].filter(isInRoot)
  if (program.length === 0) return { program: [], start: [] }
  const all = [...folders, ...roots.map((root) => join(root, 'node_modules'))]
  const start = all.flatMap((folder) => [
    ...programs.map((name) => join(folder, '.bin', name)),
    join(dirname(folder), '.npmrc'),
  ])
  const plain = start.flatMap((path) => plainPath(path) ?? [])
  return { program: [...new Set(program)], start: [...new Set(plain)].filter(isInRoot) }
}

let known: string | null | undefined
/** The folder of this package, without symlinks; undefined if this code is part of another program's bundle. */
function packageDirectory(): string | undefined {
  if (known === undefined) known = findPackage() ?? null
  return known ?? undefined
}

function findPackage(): string | undefined {
  try {
    for (let at = dirname(realpathSync(fileURLToPath(import.meta.url))); at !== '/'; at = dirname(at)) {
      const manifest = join(at, 'package.json')
      if (lstatSync(manifest, { throwIfNoEntry: false }) === undefined) continue
      const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown }
      return name === 'portcullis' ? at : undefined
    }
  } catch {
    // The file doesn't exist or can't be read, so there is nothing to protect.
  }
  return undefined
}

/**
 * The files of the package. In a git checkout, where somebody may be working on the sources, these are only the built files. In an installed package,
 * they also include `package.json`.
 */
function filesOf(home: string, isInRoot: (path: string) => boolean): readonly string[] {
  if (!isInRoot(join(home, 'dist'))) return []
  const built = filesBelow(join(home, 'dist'), (directory) => directory !== join(home, 'dist/types')).filter(isNeeded)
  return home.split('/').includes('node_modules') ? [join(home, 'package.json'), ...built] : built
}

function filesBelow(directory: string, isEntered: (directory: string) => boolean): readonly string[] {
  if (!isEntered(directory)) return []
  return entriesOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path, isEntered) : [path]
  })
}

function entriesOf(directory: string): readonly HostEntry[] {
  try {
    return readEntriesSync(directory)
  } catch {
    return []
  }
}

/** The `node_modules` folders, at any depth, that contain the files at `paths`. */
function packageFolders(paths: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const path of paths) {
    for (let at = dirname(path); at !== '/'; at = dirname(at)) if (basename(at) === 'node_modules') found.add(at)
  }
  return [...found]
}

/** The path with the symlinks in its directory resolved, or those in the nearest enclosing directory that exists; undefined if there is none. */
function plainPath(path: string): string | undefined {
  for (let [at, below] = [dirname(path), basename(path)]; ; [at, below] = [dirname(at), join(basename(at), below)]) {
    const real = realPath(at)
    if (real !== undefined) return join(real, below)
    if (at === '/') return undefined
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
