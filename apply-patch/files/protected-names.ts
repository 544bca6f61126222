/**
 * Names that some file system treats as `.git`: names in upper or lower case (macOS, Windows), with additional code points that HFS+ ignores, or with
 * trailing dots and spaces, and the NTFS short name. Git refuses the same names (`core.protectHFS`, `core.protectNTFS`).
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

/** The first protected component of a relative path; undefined if there is none. */
export function protectedComponent(relative: string): string | undefined {
  return relative.split('/').find(isGitName)
}
