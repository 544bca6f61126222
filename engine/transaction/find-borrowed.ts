import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { encodePath, parseAlternates, readHostFile, type View } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'

/**
 * The first place outside the trees of a view from which a repository that a run made borrows objects, directly or through another repository. Undefined if it borrows
 * only from inside: what it borrows from elsewhere may be what only this machine can read.
 *
 * @param git the repository's `.git` directory, as commands see its path
 */
export function findBorrowedOutside(git: string, views: readonly View[]): string | undefined {
  const known = new Set<string>()
  const pending = [`${git}/objects`]
  for (let objects = pending.pop(); objects !== undefined; objects = pending.pop()) {
    if (known.has(objects)) continue
    known.add(objects)
    const place = objects
    const view = views.find(({ path }) => isInside(place, path))
    if (view === undefined) return place
    const source = view.source + place.slice(view.path.length)
    const real = realOf(source)
    if (real === undefined) continue
    // A link may lead anywhere by the time that git follows it.
    if (real !== source) return place
    const content = readHostFile(encodePath(`${source}/info/alternates`), { maxBytes: 1024 * 1024 })
    if (content !== undefined) pending.push(...parseAlternates(content).map((each) => resolve(place, each)))
  }
  return undefined
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    // It doesn't exist, so there is nothing to borrow.
    return undefined
  }
}
