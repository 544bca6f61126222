import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The state of a tree, including git's files: the content, mode, modification time, inode and number of links of each path. */
export function fingerprint(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const walk = (path: string): void => {
    const stats = lstatSync(path, { bigint: true })
    const facts = `${stats.mode.toString(8)} ${stats.ino} ${stats.mtimeNs} ${stats.nlink}`
    found[path] = stats.isSymbolicLink()
      ? `${facts} ${readlinkSync(path)}`
      : stats.isFile()
        ? `${facts} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`
        : facts
    if (stats.isDirectory()) for (const name of readdirSync(path).toSorted()) walk(join(path, name))
  }
  walk(root)
  return found
}
