import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { ActionError } from '../shared/runner.ts'

const mostBytes = 256 * 1024 * 1024

/** Runs the host's git with settings that keep it from starting the repository's hooks and its file-system monitor. */
export function git(workspace: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Buffer {
  const settings = [
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.untrackedCache=false',
    `safe.directory=${workspace}`,
  ]
  const words = settings.flatMap((setting) => ['-c', setting])
  const { PATH, HOME } = process.env
  try {
    return execFileSync('git', [...words, '-C', workspace, ...args], {
      env: {
        PATH,
        HOME,
        LC_ALL: 'C',
        GIT_TERMINAL_PROMPT: '0',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_ATTR_NOSYSTEM: '1',
        // Git must not use a checkout in a directory above the workspace, because such a checkout doesn't belong to this job.
        GIT_CEILING_DIRECTORIES: dirname(workspace),
        ...env,
      },
      maxBuffer: mostBytes,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer }
    throw new ActionError(
      `git ${args[0] ?? ''} failed: ${String(stderr ?? (error as Error).message)
        .trim()
        .slice(0, 500)}`,
    )
  }
}

/** Returns the hash of the checked-out commit. @throws ActionError if there is none */
export function headOf(workspace: string): string {
  return git(workspace, ['rev-parse', '--verify', 'HEAD^{commit}']).toString().trim()
}

/**
 * Returns a patch with the changes in a workspace since a commit, and the paths of the changed files. The repository's index and objects stay
 * unchanged.
 *
 * @param scratch a directory for temporary files
 */
export function patchSince(
  workspace: string,
  base: string,
  scratch: string,
): { readonly patch: Buffer; readonly files: readonly string[] } {
  const objects = join(scratch, 'objects')
  mkdirSync(objects, { recursive: true })
  const known = git(workspace, ['rev-parse', '--path-format=absolute', '--git-path', 'objects'])
    .toString()
    .replace(/\n$/, '')
  const env = {
    GIT_INDEX_FILE: join(scratch, 'index'),
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: known,
  }
  git(workspace, ['read-tree', base], env)
  git(workspace, ['add', '--all', '--', '.'], env)
  const diff = ['diff', '--cached', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color']
  const patch = git(workspace, [...diff, '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/', base], env)
  const names = git(workspace, [...diff, '--name-only', '-z', base], env).toString()
  return { patch, files: names.split('\0').filter((name) => name !== '') }
}
