/** The fields of `/proc/PID/stat` about a process (proc(5)). */
export type ProcessStat = {
  /** Whether it has died, and only waits for its parent to collect it, which may never happen. */
  readonly isDead: boolean
  /** Its process group. */
  readonly group: number
  /** When it started, in the kernel's clock ticks; undefined if the text was truncated. */
  readonly start: string | undefined
}

/**
 * Parses the text of such a file. The name in its second field may contain spaces and brackets, so the fields are counted after its last bracket.
 *
 * @internal
 */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { isDead: 'ZX'.includes(fields[0] ?? ''), group: Number(fields[2]), start: fields[19] }
}
