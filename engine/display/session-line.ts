import { shellJoin } from '../core/text/shell-join.ts'

/** A session that can be gone on with. */
type ResumableSession = {
  readonly id: string
  /** Where it worked. */
  readonly workspace: string
}

/** Ids of one hour begin alike; so much of their ends differs. */
const endCharacters = 12

/**
 * Which session it is, and the command that goes on with it.
 *
 * @param cwd the directory that the command would be typed in; undefined: any
 */
export function sessionLine({ id, workspace }: ResumableSession, cwd: string | undefined): string {
  const there = cwd === undefined || cwd === workspace ? [] : ['-C', workspace]
  const command = shellJoin(['agent', 'exec', 'resume', id.slice(-endCharacters), ...there])
  return `session: ${id} · go on with it: ${command}`
}
