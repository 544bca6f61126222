import { dirname, isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { hostFileSystem } from '../file-system-view.ts'
import { targetOfGitFile } from '../git/git-file.ts'
import { homes } from '../homes.ts'
import { readHostFile } from '../host-files.ts'
import { readdirSync, readlinkSync } from '../host-paths.ts'
import { decodeName } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { turnsOf } from './turns-of.ts'

/** The last parts of keys whose values git runs as programs, or uses to find programs or more settings (git-config(1)). */
const followed = new Set(
  'hookspath path templatedir fsmonitor sshcommand askpass editor pager clean smudge process textconv command driver program helper cmd external gitproxy uploadpack receivepack vcs'.split(
    ' ',
  ),
)

/**
 * Files that git on the host would run or read because of its configuration: directories of hooks (`core.hooksPath`), programs
 * (`core.fsmonitor`, filters, editors, aliases) and included files. This parser is more lenient than git's, so that it misses no spelling of such a
 * setting: it treats any word of a value as a path, and follows every include.
 *
 * @param root the path of a repository or of a directory in one, without symlinks. Its configuration may name files elsewhere
 */
export function namedByGit(root: string): readonly string[] {
  const worktree = worktreeOf(root)
  if (worktree === undefined) return []
  const seen = new Set<string>()
  const directories = gitDirectories(worktree)
  const files = [
    ...ofTheUser(),
    ...directories.flatMap((directory) => [join(directory, 'config'), join(directory, 'config.worktree')]),
  ]
  const found = directories.flatMap(linksIn)
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = textOf(file, true)
    if (text === undefined) continue
    for (const { key, value } of settingsOf(text)) {
      if (!isFollowed(key)) continue
      const words = wordsOf(key, value)
      // A command may change to a directory before it names a file.
      const entered = words.map((word) => resolve(worktree, word)).filter(isDirectory)
      for (const word of words) {
        if (key === 'path') files.push(...resolveIn(word, [dirname(file)]))
        // What is named by a path counts even if it doesn't exist yet, because it may be created later. A single word may be anything, and counts only if
        // it names an existing file.
        const named = key === 'hookspath' || key === 'path' || word.includes('/') ? () => true : isFile
        found.push(...resolveIn(word, [worktree, dirname(file), ...entered]).filter(named))
      }
    }
  }
  return [...new Set(found)].filter((path) => !isWithin(path, join(root, '.git')))
}

/** The nearest directory with a `.git`: `root` itself, or a directory above it. */
function worktreeOf(root: string): string | undefined {
  for (let at = root; ; at = dirname(at)) {
    if (hostFileSystem.kindOf(join(at, '.git')) !== 'absent') return at
    if (at === '/') return undefined
  }
}

function ofTheUser(): readonly string[] {
  const { XDG_CONFIG_HOME: config, GIT_CONFIG_GLOBAL: global, GIT_CONFIG_SYSTEM: system } = process.env
  const atHome = homes().flatMap((home) => [join(home, '.gitconfig'), join(home, '.config/git/config')])
  const named = [config === undefined ? undefined : join(config, 'git/config'), global, system]
  return ['/etc/gitconfig', ...atHome, ...named.filter((path) => path !== undefined)].filter(isAbsolute)
}

function gitDirectories(worktree: string): readonly string[] {
  const link = join(worktree, '.git')
  const git = hostFileSystem.kindOf(link) === 'directory' ? link : targetOfGitFile(link)
  if (git === undefined) return []
  const common = textOf(join(git, 'commondir'))?.trim()
  return common === undefined ? [git] : [git, resolve(git, common)]
}

/** Where the links lead that stand for git's settings, its hooks or a hook, whether or not anything is there. */
function linksIn(git: string): readonly string[] {
  const hooks = join(git, 'hooks')
  const own = ['config', 'config.worktree', 'hooks', 'info', 'info/attributes'].map((name) => join(git, name))
  return [...own, ...namesIn(hooks).map((name) => join(hooks, name))].flatMap((path) => {
    if (!hostFileSystem.isSymlink(path)) return []
    try {
      return resolveIn(readlinkSync(path), [dirname(path)])
    } catch {
      // Somebody has removed it since.
      return []
    }
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // There is none.
    return []
  }
}

/** The text of a file, in the form in which paths are given to the host's file system. */
function textOf(file: string, follow = false): string | undefined {
  const bytes = readHostFile(file, { follow })
  return bytes && decodeName(bytes.toString('latin1'))
}

function settingsOf(text: string): readonly { readonly key: string; readonly value: string }[] {
  const lines = text.replace(/\\\r?\n/g, '').split(/\r?\n/)
  return lines.flatMap((line) => {
    const equals = line.indexOf('=', line.trimStart().startsWith('[') ? line.indexOf(']') : 0)
    const key = line
      .slice(0, Math.max(equals, 0))
      .replace(/^\s*\[[^\]]*\]/, '')
      .trim()
    return /^[a-z][a-z0-9-]*$/i.test(key) ? [{ key: key.toLowerCase(), value: line.slice(equals + 1).trimStart() }] : []
  })
}

/**
 * What may name a file in the value of a git setting: the value, the value without a possible comment, and the words of the value, split roughly as a
 * shell would split them.
 */
function wordsOf(key: string, value: string): readonly string[] {
  const bare = (text: string): string => text.trim().replace(/^!/, '').replace(/["']/g, '').replace(/\\\\/g, '\\')
  const whole = [value, value.split(/[#;]/)[0] ?? ''].map(bare)
  const words =
    key === 'hookspath' || key === 'path' ? [] : value.split(/[\s;|&()`]+/).flatMap((word) => readingsOf(bare(word)))
  return [...new Set([...whole, ...words])].filter((word) => word !== '' && word !== '.')
}

/**
 * The paths that a word of a command may stand for: itself; what follows a variable or another command's output, which is probably the work tree; the directory
 * of a pattern; and a module of Python.
 */
function readingsOf(word: string): readonly string[] {
  const plain = word.replaceAll('\\', '')
  const behind = /^(?:\$\{?\w+\}?)?\/(.+)$/.exec(plain)?.[1]
  const [fixed = ''] = plain.split(/[*?[]/, 1)
  return [
    word,
    plain,
    ...(behind === undefined ? [] : [behind]),
    ...(fixed === plain || !fixed.includes('/') ? [] : [`${fixed.slice(0, fixed.lastIndexOf('/'))}/.`]),
    ...(/^\w+(?:\.\w+)+$/.test(plain) ? [`${plain.replaceAll('.', '/')}.py`] : []),
  ]
}

function resolveIn(word: string, directories: readonly string[]): readonly string[] {
  if (word.includes('\0')) return []
  if (word.startsWith('~/')) return homes().map((home) => join(home, word.slice(2)))
  return directories.flatMap((directory) => {
    const path = resolve(directory, word)
    return [path, hostFileSystem.realPath(path) ?? path, ...turnsOf(word, directory)]
  })
}

function isFile(path: string): boolean {
  return hostFileSystem.kindOf(path) === 'file'
}

function isDirectory(path: string): boolean {
  return hostFileSystem.kindOf(path) === 'directory'
}

function isFollowed(key: string): boolean {
  return followed.has(key) || /[a-z](?:hook|command)$/.test(key)
}
