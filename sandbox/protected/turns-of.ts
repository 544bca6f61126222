import { dirname, join } from 'node:path'

/** A name that stands below a directory in which a path turns back. It makes every link in that directory's place one that leads to a protected place. */
const turn = '.portcullis-turn'

/**
 * The directories in which a path turns back (`a` in `a/../b`), each with a name below it. Where the path leads depends on whether such a directory is a link, so
 * no link may take its place.
 *
 * @param from the directory in which the path begins, unless it is absolute
 */
export function turnsOf(path: string, from: string): readonly string[] {
  const names = path.split('/')
  let at = path.startsWith('/') ? '/' : from
  return names.flatMap((name, index) => {
    if (name === '..') at = dirname(at)
    else at = join(at, name)
    return name !== '..' && name !== '' && name !== '.' && names[index + 1] === '..' ? [join(at, turn)] : []
  })
}
