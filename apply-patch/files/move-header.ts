import type { Header } from './journal.ts'
import { isInside } from './resolve-path.ts'
import type { Entry, JournalEntry } from './commit-steps.ts'

/**
 * Rewrites a journal's header for a tree that has been moved since the journal was written.
 *
 * @returns undefined if the header names a path outside the tree, because such a path didn't move with the tree
 */
export function moveHeader(header: Header, to: string): Header | undefined {
  const { root } = header
  let leftTree = false
  const path = (at: string): string => {
    if (!isInside(at, root)) leftTree = true
    return at === root ? to : `${to === '/' ? '' : to}${at.slice(root === '/' ? 0 : root.length)}`
  }
  const entry = ({ directory, name }: Entry): Entry => ({ directory: path(directory), name })
  const move = (one: JournalEntry): JournalEntry => {
    const target = entry(one.target)
    switch (one.type) {
      case 'add':
        return { ...one, target, fresh: entry(one.fresh) }
      case 'replace':
        return { ...one, target, fresh: entry(one.fresh), old: entry(one.old) }
      case 'remove':
        return { ...one, target, old: entry(one.old) }
      default:
        return one satisfies never
    }
  }
  const moved: Header = {
    ...header,
    root: to,
    ...(header.within === undefined ? {} : { within: header.within.map(path) }),
    steps: header.steps.map((step) => ({ ...step, journalEntry: move(step.journalEntry) })),
    made: header.made.map(path),
    // Only a rollback needs the temporary names and the times, and a commit that was rolled back can't be undone.
    cleared: header.cleared.map((one) => ({ ...one, path: path(one.path), aside: undefined })),
    times: [],
    emptied: header.emptied.map(path),
    modes: header.modes?.map((one) => ({ ...one, path: path(one.path) })),
    removed: header.removed?.map((one) => ({ ...one, path: path(one.path) })),
  }
  return leftTree ? undefined : moved
}
