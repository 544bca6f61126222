import { createHash } from 'node:crypto'
import { holdGit, largestPacked, type GitDirectories } from './git-directories.ts'
import { hasOddEntries } from './store-commits.ts'

/**
 * Why git would not get far in a git directory that commands made: a part that it needs is a link or a pipe, or can't be read. Undefined if there is no such part.
 *
 * @internal
 */
export function findOddPart(git: GitDirectories): string | undefined {
  const held = holdGit(git)
  if (held === undefined) return "its git directory can't be read"
  try {
    const isOdd = (path: string): boolean => {
      const kind = held.common.stat(path)?.kind
      return kind !== undefined && kind !== 'file'
    }
    const odd =
      ['HEAD', 'config', 'packed-refs', 'index', 'shallow', 'commondir'].find(isOdd) ??
      ['objects', 'refs'].find((path) => hasOddEntries(held.common, path, -deepest))
    return odd === undefined ? undefined : `${odd} contains links or pipes, or can't be read`
  } finally {
    held.close()
  }
}

/** How many levels of directories the names of refs may have in addition to those of objects. */
const deepest = 20

/**
 * A text that says which refs a repository made anew has.
 *
 * @internal
 */
export function stateOfRemade(head: Buffer, packedRefs: Buffer): string {
  return createHash('sha256').update(head).update('\0').update(packedRefs).digest('hex')
}

/**
 * Whether a repository that was made anew still has the refs that it had then, and no others.
 *
 * @internal
 */
export function isRemadeAsItWas(git: string, state: string): boolean {
  const held = holdGit({ own: git, common: git })
  if (held === undefined) return false
  try {
    const [head, packed] = [held.own.read('HEAD', 4096), held.own.read('packed-refs', largestPacked)]
    if (head === undefined || stateOfRemade(head, packed ?? Buffer.alloc(0)) !== state) return false
    const open = ['refs']
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      for (const name of held.own.names(path) ?? []) {
        if (held.own.stat(`${path}/${name}`)?.kind !== 'directory') return false
        open.push(`${path}/${name}`)
      }
    }
    return true
  } finally {
    held.close()
  }
}
