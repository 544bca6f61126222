import { readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseGitConfig } from './config.ts'

/**
 * The repository outside of `worktree` that its `.git` file leads to: the directory that a commit there has to write. Only when that
 * repository itself names this worktree: the file alone may come with the tree, and could name any repository on the disk.
 */
export function linkedRepository(worktree: string): string | undefined {
  try {
    const directory = targetOfGitFile(join(worktree, '.git'))
    if (directory === undefined) return undefined
    const common = read(join(directory, 'commondir'))
    if (common !== undefined) {
      const back = read(join(directory, 'gitdir'))
      if (back === undefined || realpathSync.native(dirname(resolve(directory, back))) !== worktree) return undefined
      const repository = realpathSync.native(resolve(directory, common))
      return dirname(directory) === join(repository, 'worktrees') ? repository : undefined
    }
    // A submodule's: its config says where the files are.
    const config = parseGitConfig(readFileSync(join(directory, 'config'), 'utf8')) ?? []
    const back = config.find(({ key }) => key === 'core.worktree')?.value
    return back !== undefined && realpathSync.native(resolve(directory, back)) === worktree ? directory : undefined
  } catch {
    // Something on the way isn't there, so it leads nowhere.
    return undefined
  }
}

/** The directory, without symlinks, that a file or symlink named `.git` stands for; undefined when it names none. */
export function targetOfGitFile(link: string): string | undefined {
  try {
    const real = realpathSync.native(link)
    if (basename(real) !== '.git' || real !== link) return real
    const target = /^gitdir: (.+)$/m.exec(readFileSync(link, 'utf8'))?.[1]
    return target === undefined ? undefined : realpathSync.native(resolve(dirname(link), target))
  } catch {
    // Dangling, or a directory.
    return undefined
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    // Absent is an answer here.
    return undefined
  }
}
