import { pathOfKey } from '../core/changes/list-files.ts'

/** The path bytes of an entry of a tree: a key has a character for each byte of its path below the root. */
export function bytesOf(root: string, key: string): Buffer {
  return key === '' ? Buffer.from(root) : Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')])
}

/** The entry of this name in a directory, both as keys. */
export function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Whether a name is text, so that a patch can name it. */
export function isText(key: string): boolean {
  return Buffer.from(pathOfKey(key)).toString('latin1') === key
}

/** The parent of a key; empty for the root. */
export function directoryOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('/')))
}
