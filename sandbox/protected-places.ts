/**
 * Names that programs on the host execute or obey later without asking, so that writing them is a way out of any
 * sandbox. Relative to each writable root; read-only there even when the root is writable. With two stars: in every directory of it,
 * since any may be opened as a project.
 */
export const protectedPlaces: readonly string[] = [
  // Agents: their configuration, hooks and rules
  '**/.portcullis',
  '**/.codex',
  '**/.claude',
  '**/.agents',
  '**/.gemini',
  '**/.cursor',
  '**/.mcp.json',
  // Editors and shells that run things when a folder is opened
  '**/.vscode/tasks.json',
  '**/.vscode/settings.json',
  '**/.vscode/launch.json',
  '**/.idea',
  '**/.envrc',
  // Start-up files, when the root is a home directory
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshenv',
  '.zshrc',
  '.zprofile',
  '.zlogin',
  '.gitconfig',
  '.config/git',
  '.ripgreprc',
  // What runs or decides here, likewise
  '.config/portcullis',
  '.local/state/portcullis',
  '.cache/portcullis',
]

/**
 * Entries of a git directory that git executes, or follows to something it executes. Relative to that directory. What lies in
 * `modules` and `worktrees` are git directories themselves.
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
