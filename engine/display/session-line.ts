import { shellJoin } from '../core/text/shell-join.ts'

/** A session that can be resumed. */
type ResumableSession = {
  readonly id: string
  /** The directory in which it worked. */
  readonly workspace: string
}

/** Ids from the same hour begin alike; this many characters at their end differ. */
const endCharacters = 12

/**
 * Formats the session and the command that resumes it.
 *
 * @param cwd the directory in which the command would be typed; undefined: any
 */
export function sessionLine({ id, workspace }: ResumableSession, cwd: string | undefined): string {
  const there = cwd === undefined || cwd === workspace ? [] : ['-C', workspace]
  const command = shellJoin(['agent', 'exec', 'resume', id.slice(-endCharacters), ...there])
  return `session: ${id} · to continue: ${command}`
}
