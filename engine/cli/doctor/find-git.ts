import { execa } from 'execa'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { hostPath, hostProgram, SandboxError } from '../../../sandbox/index.ts'
import { readPlainFile } from '../../core/read-plain-file.ts'
import type { GitFacts } from './git-rows.ts'

const patienceMs = 5000
/** The size limit for the git configuration of a repository, in bytes. No real configuration is larger. */
const maxBytes = 256 * 1024

type Asked = Pick<GitFacts, 'root' | 'workspace' | 'anywhere'>

/**
 * Finds git and the user's identity. Git never runs in the repository, because the repository's configuration can make git run other programs. Instead, the
 * text of that configuration is passed to git, which looks up only `user.name` and `user.email` in it.
 */
export async function findGit(asked: Asked, env: Readonly<NodeJS.ProcessEnv>): Promise<GitFacts> {
  const { root, workspace } = asked
  const roots = [workspace, ...(root === undefined ? [] : [root])]
  const program = programOf(roots)
  if (program === undefined) return { ...asked, version: undefined, name: undefined, email: undefined }
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))
  const git = (words: readonly string[], input?: string): Promise<string | undefined> =>
    ask(program, words, { ...Object.fromEntries(own), PATH: hostPath(roots), GIT_CEILING_DIRECTORIES: '/' }, input)
  const text = root === undefined ? undefined : repositoryConfig(root)
  const identity = async (key: string, variable: string): Promise<string | undefined> =>
    nonEmpty(env[variable]) ??
    (text === undefined ? undefined : await git(['config', '--file', '-', '--no-includes', '--get', key], text)) ??
    (await git(['config', '--get', key]))
  const version = await git(['--version'])
  return {
    ...asked,
    version,
    name: version === undefined ? undefined : await identity('user.name', 'GIT_AUTHOR_NAME'),
    email: version === undefined ? undefined : await identity('user.email', 'GIT_AUTHOR_EMAIL'),
  }
}

function programOf(roots: readonly string[]): string | undefined {
  try {
    return hostProgram('git', roots)
  } catch (error) {
    if (SandboxError.is(error, 'missing-program')) return undefined
    throw error
  }
}

/** Returns the first line of the command's output; undefined if there is none, or if the command fails or takes too long. */
async function ask(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string | undefined,
): Promise<string | undefined> {
  const options = { cwd: '/', env, extendEnv: false, timeout: patienceMs, input: input ?? '', reject: false } as const
  const { failed, stdout } = await execa(program, words, options)
  return failed ? undefined : nonEmpty(stdout.split('\n')[0]?.trim())
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

/** Returns the text of a repository's own configuration, even if the directory is a linked worktree. Undefined if the text can't be found. */
function repositoryConfig(root: string): string | undefined {
  const read = (path: string): string | undefined => {
    const text = readPlainFile(path, maxBytes)
    return typeof text === 'string' ? text : undefined
  }
  const git = join(root, '.git')
  const link = read(git)?.match(/^gitdir: (?<path>.+)$/m)?.groups?.['path']
  if (link === undefined) return read(join(git, 'config'))
  const directory = isAbsolute(link) ? link : resolve(dirname(git), link)
  const common = read(join(directory, 'commondir'))?.trim()
  return read(join(common === undefined ? directory : resolve(directory, common), 'config'))
}
