/** The fields of `/proc/PID/stat` that are used here (proc(5)). */
export type ProcessStat = {
  /** Whether the process has ended and is only waiting for its parent to reap it, which may never happen. */
  readonly isDead: boolean
  /** The id of the process's group. */
  readonly group: number
  /** When the process started, in the kernel's clock ticks; undefined if the text was truncated. */
  readonly start: string | undefined
}

/**
 * Parses the text of `/proc/PID/stat`. The second field, the program's name, may contain spaces and parentheses, so the fields are counted from
 * the last closing parenthesis.
 *
 * @internal
 */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { isDead: 'ZX'.includes(fields[0] ?? ''), group: Number(fields[2]), start: fields[19] }
}
