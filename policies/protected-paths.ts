import { isAbsolute, relative, sep } from 'node:path'

/**
 * Names that are protected wherever they stand in a path: what a later program on the host would run or obey (git's
 * hooks and configuration, hooks of other tools, editors' tasks) and what tells an agent what it may do.
 */
const protectedNames: ReadonlySet<string> = new Set([
  ...['.git', '.gitmodules', '.gitconfig', '.husky', '.envrc', '.vscode', '.idea', '.mcp.json'],
  ...['.portcullis', '.codex', '.agents', '.claude', '.gemini', '.cursor', '.aws', '.ssh', '.gnupg'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.profile', '.zshrc', '.zprofile', '.zshenv', '.ripgreprc'],
])

/** The protected part of a path below a root, or undefined. Case and trailing dots don't hide it. */
export function findProtected(path: string, root: string): string | undefined {
  const parts = relative(root, path).split(sep)
  return parts.find((part) => {
    const name = part
      .normalize('NFC')
      .toLowerCase()
      .replace(/[\u200b-\u200f\u2060\ufeff]/g, '')
      .replace(/[. ]+$/, '')
    return protectedNames.has(name) || /^git~[0-9]+$/.test(name)
  })
}

/** Whether a path is a root or below it; compared by folders, so `/repo-other` isn't in `/repo`. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
