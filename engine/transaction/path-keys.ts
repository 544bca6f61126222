import { encodeText } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'

/** Returns the bytes of an entry's path. A key has one character for each byte of the path relative to the root. */
export function bytesOf(root: string, key: string): Buffer {
  return key === '' ? Buffer.from(root) : Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')])
}

/** Returns the path of an entry for a system call: as text if the part below the root is ASCII, because text is faster; otherwise as bytes. */
export function placeOf(root: string, key: string): string | Buffer {
  return isAscii.test(key) ? (key === '' ? root : `${root}/${key}`) : bytesOf(root, key)
}

const isAscii = /^[\x20-\x7e]*$/

/** The key of a path in a tree. The path may be the root itself. */
export function keyIn(root: string, path: string): string {
  return encodeText(path.slice(root.length + 1)).toString('latin1')
}

/** Builds the key of an entry from the key of its directory and the name of the entry. */
export function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Whether a key is valid UTF-8. A patch can name only such a path. */
export function isText(key: string): boolean {
  return Buffer.from(pathOfKey(key)).toString('latin1') === key
}

/** The parent of a key; empty for the root. */
export function directoryOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('/')))
}

/** The directories that contain an entry, the nearest first, without the root. */
export function parentsOf(key: string): readonly string[] {
  const parents: string[] = []
  for (let at = directoryOf(key); at !== ''; at = directoryOf(at)) parents.push(at)
  return parents
}

/** Whether an entry is in one of these directories, at any depth. */
export function isBelow(key: string, directories: ReadonlySet<string>): boolean {
  return directories.size > 0 && parentsOf(key).some((each) => directories.has(each))
}
