import { shellJoin } from '../core/text/shell-join.ts'

/** A session that can be resumed. */
type ResumableSession = {
  readonly id: string
  /** The directory in which the session worked. */
  readonly workspace: string
}

/**
 * How many characters from the end of a session's id are used in the command that resumes the session. The end is used because ids from the same hour
 * begin with the same characters.
 */
const endCharacters = 12

/**
 * Formats a line with the session's id and the command that resumes it.
 *
 * @param cwd the directory in which the command would be typed; undefined if it doesn't matter
 */
export function sessionLine({ id, workspace }: ResumableSession, cwd: string | undefined): string {
  const there = cwd === undefined || cwd === workspace ? [] : ['-C', workspace]
  const command = shellJoin(['agent', 'exec', 'resume', id.slice(-endCharacters), ...there])
  return `session: ${id} · to continue: ${command}`
}
