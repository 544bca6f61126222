/**
 * Names that stand for `.git` on some file system: upper or lower case (macOS, Windows), additional code points that HFS+ ignores, the NTFS short name,
 * trailing dots and spaces. Git refuses the same names (`core.protectHFS`, `core.protectNTFS`).
 */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Whether a name is git's own folder or file, so that everything in it is protected too. */
function isGitName(name: string): boolean {
  // Nearly all names are ruled out by this check alone.
  if (!/[gG]/.test(name)) return false
  const plain = name
    .replace(ignoredByHfs, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
  return plain === '.git' || plain === 'git~1'
}

/** The first component of a relative path that is protected; undefined if there is none. */
export function protectedComponent(relative: string): string | undefined {
  return relative.split('/').find(isGitName)
}
