import { basename, dirname } from 'node:path/posix'
import { isTest } from '../record/make-record.ts'

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
  /^(?:(?:gnu)?makefile|justfile|rakefile|jenkinsfile|noxfile\.py|taskfile\.ya?ml|sitecustomize\.py|usercustomize\.py)$/i

export function partOf(path: string, { hasTests, isProtected, isReached, exists }: PartContext): JudgePart {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  if (isProtected(path) || isReached(path)) return 'config'
  if (isInstalled(path, exists)) return /\.pth$/.test(name) || startFiles.test(name) ? 'config' : 'dependency'
  if (hasTests(path) || isTest(path) || folders.some((each) => supportFolders.has(each))) return 'test'
  if (name === 'package.json' || name === 'pyproject.toml') return 'manifest'
  if (folders.some((each) => each.startsWith('.')) || name.startsWith('.') || startFiles.test(name)) return 'config'
  if (!/\.(?:ini|cfg)$|\.conf(?:ig)?\.[cm]?[a-z]+$/.test(name)) return 'source'
  const beside = ['package.json', 'pyproject.toml', 'setup.py', 'tox.ini'].map((each) => inFolder(path, each))
  return folders.length === 0 || beside.some(exists) ? 'config' : 'source'
}

/** Whether a package manager has put the file there: in `node_modules`, or in a virtual environment of Python. */
function isInstalled(path: string, exists: (path: string) => boolean): boolean {
  if (path.startsWith('node_modules/') || path.includes('/node_modules/')) return true
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    if (exists(`${folder}/pyvenv.cfg`)) return true
  }
  return basename(path) === 'pyvenv.cfg'
}

/**
 * The directory of the installed package that a path belongs to; undefined for something that starts programs and belongs to no single package, such
 * as `node_modules/.bin`.
 */
export function packageOf(path: string): string | undefined {
  const at = path.lastIndexOf('node_modules/')
  if (at < 0) return undefined
  const [first = '', second] = path.slice(at + 13).split('/')
  if (first.startsWith('.')) return undefined
  return `${path.slice(0, at + 13)}${first.startsWith('@') ? `${first}/${second ?? ''}` : first}`
}

function inFolder(path: string, name: string): string {
  const folder = dirname(path)
  return folder === '.' ? name : `${folder}/${name}`
}
