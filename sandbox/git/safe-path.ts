import { decodeName } from '../path-bytes.ts'

/**
 * Whether git on every operating system would accept a path into its index. No part of it may be git's own directory or lead out of the work tree.
 *
 * @param path the path with one character for each byte
 */
export function isSafePath(path: string): boolean {
  return isPlainName.test(path) || path.split('/').every((part) => isPlainName.test(part) || isSafeName(part))
}

/** Matches only names that no file system takes for `.git` or `..`. Most names match, and the full check takes several times as long. */
const isPlainName = /^\w[\w.+-]*$/

function isSafeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  // The name without the characters that HFS+ ignores or NTFS drops.
  const plain = decodeName(name)
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/[. ]*(?::.*)?$/s, '')
    .toLowerCase()
  return plain !== '.git' && plain !== 'git~1' && name.toLowerCase() !== '.git'
}
