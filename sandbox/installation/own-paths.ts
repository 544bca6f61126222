import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { lstatSync, readFileSync, realpathSync } from '../host-paths.ts'
import { symlinksOnPath } from '../symlinks-on-path.ts'
import { isWithin } from '../paths.ts'

/** File names in `node_modules/.bin`: our own programs, and the programs that `npx` uses to start them. */
const programs = ['agent', 'apply-patch', 'portcullis', 'node', 'sh']

/**
 * The places of this program that are in one of `roots`, and those that decide how it is started: only the user may change them. If no file of the
 * program is in a root, there are none, because a command then can't change what is started next. The directories in the paths are not symlinks.
 *
 * @param roots the directories that commands may write to, without symlinks
 */
export function ownPlaces(roots: readonly string[]): readonly string[] {
  const isInRoot = (path: string): boolean => roots.some((root) => path !== root && isWithin(path, root))
  const home = packageDirectory()
  if (home === undefined) return []
  const [started = ''] = process.argv.slice(1)
  const isOurs = started !== '' && isWithin(realPath(started) ?? '/', home)
  const folders = packageFolders([home, ...(isOurs ? [resolve(started)] : [])])
  const links = [...(isOurs ? [resolve(started)] : []), ...folders.map((folder) => join(folder, 'portcullis'))]
  const program = [builtIn(home), ...links.flatMap(symlinksOnPath), process.execPath].filter(isInRoot)
  if (program.length === 0) return []
  const all = [...folders, ...roots.map((root) => join(root, 'node_modules'))]
  const start = all.flatMap((folder) => [
    ...programs.map((name) => join(folder, '.bin', name)),
    join(dirname(folder), '.npmrc'),
  ])
  const plain = start.flatMap((path) => plainPath(path) ?? [])
  return [...new Set([...program, ...plain.filter(isInRoot)])]
}

/** The own places in lists of roots, as they were when they were first asked for. A command in a view can't change what this program is. */
const ownIn = new Map<string, readonly string[]>()

/** The own place (see `ownPlaces`) that is or contains `path`; undefined if there is none. */
export function ownPlaceOf(path: string, roots: readonly string[]): string | undefined {
  const key = roots.join('\0')
  const own = ownIn.get(key) ?? ownPlaces(roots)
  ownIn.set(key, own)
  return own.find((each) => isWithin(path, each))
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

/** The directory of the package, or, in a git checkout, where somebody may be working on the sources, that of the built files. */
function builtIn(home: string): string {
  return home.split('/').includes('node_modules') ? home : join(home, 'dist')
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
