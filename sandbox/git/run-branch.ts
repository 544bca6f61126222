import { commitOf, holdGit, type GitDirectories } from './git-directories.ts'

/** How many names are tried. */
const mostTries = 100

/**
 * The full name of the branch that gets the commits of a run: `refs/heads/portcullis/ID`. In a repository that has a branch `portcullis`, git allows no such
 * name, so the first part is a different one, such as `portcullis-runs`.
 *
 * @internal
 */
export function runBranch(git: GitDirectories | undefined, id: string): string {
  const held = git && holdGit(git)
  try {
    for (let number = 1; number < mostTries; number += 1) {
      const part = ['portcullis', 'portcullis-runs'][number - 1] ?? `portcullis-runs-${number - 1}`
      const folder = `refs/heads/${part}`
      const kind = held?.common.stat(folder)?.kind
      const isFree = kind === undefined || kind === 'directory'
      if (held === undefined || (isFree && commitOf(held.common, folder) === undefined)) return `${folder}/${id}`
    }
    return `refs/heads/portcullis/${id}`
  } finally {
    held?.close()
  }
}
