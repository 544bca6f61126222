/**
 * Entries of a git directory that git executes, or that lead it to something that it executes. Paths are relative to that directory. Directories in
 * `modules` and `worktrees` are themselves git directories.
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
