/** What `/proc/PID/stat` says of a process (proc(5)). */
export type ProcessStat = {
  /** Whether it has died, and only waits for its parent, which may never ask. */
  readonly isDead: boolean
  /** Its process group. */
  readonly group: number
  /** When it began, in the kernel's ticks; undefined in a text that was cut. */
  readonly start: string | undefined
}

/**
 * Reads the text of such a file. The name in its second field may hold spaces and brackets, so the fields are counted from the last one.
 *
 * @internal
 */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { isDead: 'ZX'.includes(fields[0] ?? ''), group: Number(fields[2]), start: fields[19] }
}
