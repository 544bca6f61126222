import { expandHome, homes } from './homes.ts'
import { ownPlaces } from './own-places.ts'

/**
 * Names that programs on the host execute or obey later without asking, so that writing them is a way out of any
 * sandbox. Relative to each writable root, or absolute; read-only there even when the root is writable. With two stars: in every
 * directory of it, since any may be opened as a project.
 */
export function protectedPlaces(): readonly string[] {
  const known = homes()
  const atHome = [...homeNames, ...sessionNames].flatMap((name) => expandHome(`~/${name}`, known))
  return [...new Set([...projectNames, ...homeNames, ...atHome, ...ownPlaces()])]
}

const projectNames: readonly string[] = [
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
]

/** What shells and programs obey in a home directory, wherever in a root that lies, and in a root that is taken for one. */
const homeNames: readonly string[] = [
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

/** What a login, a session or a service manager obeys, in the caller's own home. */
const sessionNames: readonly string[] = [
  '.zlogout',
  '.kshrc',
  '.config/fish',
  '.xprofile',
  '.xsessionrc',
  '.pam_environment',
  '.config/autostart',
  '.config/systemd',
  '.config/environment.d',
  '.ssh',
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
