/**
 * Entries of a git directory that git executes, or that can make it execute something or read another repository. Paths are relative to the git
 * directory. Directories in `modules` and `worktrees` are themselves git directories.
 */
export const gitExecutables: readonly string[] = [
  'config',
  'config.worktree',
  'hooks',
  'commondir',
  'gitdir',
  'info/attributes',
  'objects/info/alternates',
  'objects/info/http-alternates',
]
