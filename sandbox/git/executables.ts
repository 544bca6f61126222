/**
 * Entries of a git directory that git executes, or follows to something it executes. Relative to that directory. Directories in `modules`
 * and `worktrees` are git directories themselves.
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
