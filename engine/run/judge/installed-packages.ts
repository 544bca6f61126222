import { basename, dirname } from 'node:path/posix'

/** Reads a file of a tree as text; undefined if there is none. */
type Read = (path: string) => string | undefined

/** The file in which go lists the packages that it keeps in `vendor`, and the one that cargo puts into each of those that it keeps. */
const [goList, cargoSums] = ['modules.txt', '.cargo-checksum.json']

/**
 * The directory below which something was installed by a package manager: in `node_modules`, in a virtual environment of Python, or as a copy that go or cargo
 * keeps. Undefined for any other path.
 *
 * @param exists whether there is a file at a path
 */
export function installedIn(path: string, exists: (path: string) => boolean): string | undefined {
  const at = `/${path}`.indexOf('/node_modules/')
  if (at >= 0) return path.slice(0, at + 12)
  if (basename(path) === 'pyvenv.cfg') return dirname(path)
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const marks = ['pyvenv.cfg', cargoSums, ...(basename(folder) === 'vendor' ? [goList] : [])]
    if (marks.some((mark) => exists(`${folder}/${mark}`))) return folder
  }
  return undefined
}

/**
 * Whether an installed file belongs to a package that the base has in the same version. Undefined if it belongs to none, as what starts programs in
 * `node_modules/.bin`.
 */
export function isSamePackage(path: string, base: Read, run: Read): boolean | undefined {
  const folders = packagesOf(path)
  const folder = folders.at(-1)
  if (folder === undefined) {
    const [before, after] = [base, run].map((read) => lineOf(path, read))
    return before === undefined && after === undefined ? undefined : before === after
  }
  const version = (read: Read, of: string): unknown => versionIn(read(`${of}/package.json`))
  const before = version(base, folder)
  if (before !== undefined || folders.length === 1) return before !== undefined && before === version(run, folder)
  // A package inside another hides the one that was used before. A package manager puts it there only if that one is another version now.
  const hidden = folder.slice(folder.lastIndexOf('node_modules/'))
  return version(base, hidden) !== undefined && version(base, hidden) === version(run, hidden)
}

/** The directories of the packages in `node_modules` that contain a path, from the outside in. */
export function packagesOf(path: string): readonly string[] {
  const found: string[] = []
  for (let at = `/${path}`.indexOf('/node_modules/'); at >= 0; at = path.indexOf('/node_modules/', at + 1)) {
    const start = path.indexOf('node_modules/', at) + 13
    const [first = '', second] = path.slice(start).split('/')
    if (!first.startsWith('.'))
      found.push(`${path.slice(0, start)}${first.startsWith('@') ? `${first}/${second ?? ''}` : first}`)
  }
  return found
}

/** What go or cargo has noted of the package in `vendor` that contains a path. */
function lineOf(path: string, read: Read): string | undefined {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const sums = read(`${folder}/${cargoSums}`)
    if (sums !== undefined) return /"package":"\w{1,100}"/.exec(sums)?.[0]
    if (basename(folder) !== 'vendor') continue
    const inside = path.slice(folder.length + 1)
    const lines = read(`${folder}/${goList}`)?.split('\n')
    return lines?.find((line) => line.startsWith('# ') && inside.startsWith(`${line.split(' ')[1] ?? ''}/`))
  }
  return undefined
}

function versionIn(text: string | undefined): unknown {
  try {
    return (JSON.parse(text ?? '{}') as { readonly version?: unknown }).version
  } catch {
    return undefined
  }
}
