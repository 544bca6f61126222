import { CommitError } from '../../apply-patch/index.ts'
import { isInside } from '../core/directories-between.ts'

/** How many times a landing is tried while another git process is busy, and how many milliseconds pass between two tries. */
export const [mostTries, betweenTries] = [30, 100]

/** Says that the git file at a path could not be updated, because another git process had locked it or kept changing it. */
export function busyWith(path: string): string {
  return path.endsWith('.lock')
    ? `${path} exists: a git process is working in the repository, or was killed there. If it was killed, remove the file.`
    : `${path} was changed again and again by another process.`
}

/** The git file that another git process locked or wrote during the commit; undefined if the commit failed for another reason. */
export function busyGit(error: unknown, gits: readonly string[]): string | undefined {
  if (!(error instanceof CommitError) || error.code !== 'changed' || error.tree !== 'unchanged') return undefined
  return error.facts.differences?.find(({ key }) => gits.some((directory) => isInside(key, directory)))?.key
}
