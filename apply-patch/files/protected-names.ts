/** Code points that HFS+ ignores in the names of files. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Whether some file system treats a name as `.git`: in any mix of upper and lower case (macOS, Windows), with additional code points that HFS+
 * ignores, with trailing dots and spaces, or as the NTFS short name `git~1`. Git refuses these names too (`core.protectHFS`, `core.protectNTFS`).
 */
function isGitName(name: string): boolean {
  // This quick check rules out most names.
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
