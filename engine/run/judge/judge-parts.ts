import { dirname } from 'node:path/posix'
import { isTest } from '../record/make-record.ts'
import { installedIn } from './installed-packages.ts'

/**
 * What a file is to a judge. `test`: a test, or something that tests use, such as fixtures and snapshots. `config`: it decides what the command runs.
 * `manifest`: a part of it does. `dependency`: it was installed. `source`: anything else, which is judged.
 */
export type JudgePart = 'test' | 'config' | 'manifest' | 'dependency' | 'source'

/** What the part of a file depends on, besides its name. Paths are relative to the root of the tree, with `/`. */
type PartContext = {
  /** Whether the runner has found tests in the file. */
  readonly hasTests: (path: string) => boolean
  /** Whether the user says that the file belongs to the judge. */
  readonly isProtected: (path: string) => boolean
  /** Whether the command runs the file as a script of a shell. */
  readonly isReached: (path: string) => boolean
  /** Whether the tree has a file at the path. */
  readonly exists: (path: string) => boolean
}

/** The directories in which runners keep what tests compare with. */
const supportFolders: ReadonlySet<string> = new Set([
  '__snapshots__',
  '__mocks__',
  '__fixtures__',
  'testdata',
  'fixtures',
])

/** Files that start a command: those of build tools, and those that an interpreter reads on its own. */
const startFiles =
  /^(?:(?:gnu)?makefile|justfile|rakefile|jenkinsfile|noxfile\.py|taskfile\.ya?ml|(?:site|user)customize(?:\.py)?|go\.work)$/i

/** What Python reads of installed packages before it runs anything: lines of code, and the names of plugins. */
const startsPython = /\.pth$|^entry_points\.txt$/

/** The files that describe a package, and in which tools have settings as well. */
export const manifests: ReadonlySet<string> = new Set(['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod'])

export function partOf(path: string, { hasTests, isProtected, isReached, exists }: PartContext): JudgePart {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  if (isProtected(path) || isReached(path)) return 'config'
  const isStarted = [...folders, name].some((each) => startFiles.test(each))
  if (installedIn(path, exists) !== undefined) return isStarted || startsPython.test(name) ? 'config' : 'dependency'
  if (hasTests(path) || isTest(path) || folders.some((each) => supportFolders.has(each))) return 'test'
  if (manifests.has(name)) return 'manifest'
  if ([...folders, name].some((each) => each.startsWith('.')) || isStarted) return 'config'
  if (folders.some((each) => /\.(?:dist|egg)-info$/.test(each))) return 'config'
  if (!/\.(?:ini|cfg|toml)$|\.conf(?:ig)?\.[cm]?[a-z]+$/.test(name)) return 'source'
  const beside = [...manifests, 'setup.py', 'tox.ini'].map((each) => inFolder(path, each))
  return folders.length === 0 || beside.some(exists) ? 'config' : 'source'
}

function inFolder(path: string, name: string): string {
  const folder = dirname(path)
  return folder === '.' ? name : `${folder}/${name}`
}
