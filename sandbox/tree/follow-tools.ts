import { closeSync, readSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, normalize } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { listEntries } from '../host-paths.ts'
import { openRegular } from '../host-files.ts'
import { decodeName } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { toolchainPlaces, variablesOfToolchains } from './toolchains.ts'

/** A file tree while it is being built. */
type TreeBuilder = {
  /** Whether commands can't see what this machine has at a path without symlinks, so far. */
  readonly isClosed: (path: string) => boolean
  /**
   * Shows a file or directory at the path by which it is named, if that is allowed and necessary. Returns whether commands can see it then.
   *
   * @param why what names it: a program of the table, a variable
   */
  readonly show: (named: string, why: string, isCache?: boolean) => boolean
}

/** The name of directories whose scripts a version manager makes. They all start the version manager. */
const shims = 'shims'

/** Names of directories with programs that need what is beside the directory: libraries, modules, other versions. */
const programFolders: readonly string[] = ['bin', '.bin', 'sbin', shims, 'libexec']

/** Directories whose entries the system's package manager makes. They lead nowhere else. */
const packaged: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** How many entries of a directory on the PATH are followed. */
const mostEntries = 4096

/**
 * Shows the toolchains that variables of the environment name, and the programs on the PATH with what they need: the directory around
 * their own, the targets of links, and the interpreters that their first lines name, wherever they are.
 *
 * @param environment the caller's own, which no repository can change
 */
export function followTools(
  environment: Readonly<Record<string, string | undefined>>,
  { isClosed, show }: TreeBuilder,
): void {
  for (const { variable, place } of variablesOfToolchains()) {
    const value = environment[variable]
    if (value === undefined || !isAbsolute(value)) continue
    const base = normalize(value).replace(/\/$/, '')
    if (place === undefined) show(base, variable)
    else for (const { path, isCache } of belowPlace(place)) show(base + path, variable, isCache)
  }
  const followed = new Set<string>()
  const follow = (folder: string): void => {
    if (followed.has(folder)) return
    followed.add(folder)
    if (programFolders.includes(basename(folder))) show(dirname(folder), 'PATH')
    const isShown = show(folder, 'PATH')
    const real = hostFileSystem.realPath(folder)
    if (!isShown || real === undefined || packaged.includes(real)) return
    const hasScripts = folder !== '/usr/local/bin' && basename(folder) !== shims
    for (const { name, kind } of entriesOf(real)) {
      const path = join(real, name)
      const target = kind === 'link' ? hostFileSystem.realPath(path) : undefined
      if (target !== undefined) showProgram(target)
      else if (kind === 'file' && hasScripts) {
        const interpreter = interpreterOf(path)
        if (interpreter !== undefined) showProgram(interpreter)
      }
    }
  }
  const showProgram = (path: string): void => {
    if (followed.has(path)) return
    followed.add(path)
    const real = hostFileSystem.realPath(path)
    if (real === undefined) return
    if (!isClosed(real)) return
    const folder = dirname(path)
    if (programFolders.includes(basename(folder))) follow(folder)
    show(path, 'PATH')
  }
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    if (isAbsolute(folder)) follow(normalize(folder).replace(/(?<=.)\/$/, ''))
  }
}

/** The table's places at or below a place, relative to it. */
function belowPlace(place: string): readonly { readonly path: string; readonly isCache: boolean }[] {
  return toolchainPlaces().flatMap(({ place: each, isCache }) =>
    isWithin(each, place) ? [{ path: each.slice(place.length), isCache }] : [],
  )
}

function entriesOf(directory: string): readonly { readonly name: string; readonly kind: string }[] {
  const found = []
  try {
    for (const { name, kind } of listEntries(directory)) {
      found.push({ name: decodeName(name), kind })
      if (found.length === mostEntries) break
    }
  } catch {
    // The directory doesn't exist, or this user can't list it.
  }
  return found
}

/** The program that a script's first line names (execve(2)); undefined if the file is no script. */
function interpreterOf(path: string): string | undefined {
  try {
    const descriptor = openRegular(path, false)
    try {
      const start = Buffer.alloc(256)
      const line = start.toString('latin1', 0, readSync(descriptor, start, 0, start.length, 0)).split('\n', 1)[0] ?? ''
      const [program] = line.startsWith('#!') ? line.slice(2).trim().split(/[ \t]/) : []
      return program !== undefined && isAbsolute(program) ? decodeName(program) : undefined
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // The file was removed, or this user can't read it.
    return undefined
  }
}
