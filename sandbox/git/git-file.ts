import { basename, dirname, resolve } from 'node:path'
import { readHostFile } from '../host-files.ts'
import { decodeText, encodePath } from '../path-bytes.ts'
import { realpathSync } from '../host-paths.ts'

/**
 * The path, without symlinks, to which a file or symlink named `.git` leads; undefined if it names no path, or if nothing exists at that path.
 *
 * @internal
 */
export function targetOfGitFile(link: string): string | undefined {
  try {
    const real = realpathSync(link)
    if (basename(real) !== '.git' || real !== link) return real
    const target = /^gitdir: ([^\r\n]+)$/m.exec(read(link) ?? '')?.[1]
    return target === undefined ? undefined : realpathSync(resolve(dirname(link), target))
  } catch {
    // Nothing exists at `link`, or at the path to which it leads.
    return undefined
  }
}

function read(file: string): string | undefined {
  const content = readHostFile(encodePath(file))
  return content && decodeText(content)
}
