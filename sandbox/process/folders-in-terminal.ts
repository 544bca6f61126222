import { readdirSync, readFileSync, readlinkSync } from '../host-paths.ts'

/**
 * The folders in which the processes work that a process has started in a terminal, and those that they started. Empty if they can't be found out:
 * without procfs, or if the processes belong to a daemon or to another user.
 *
 * @param pid a process that runs a command in a terminal
 * @internal
 */
export function foldersInTerminal(pid: number): readonly string[] {
  const folders = new Set<string>()
  const pending = [pid]
  for (let at = 0; at < pending.length && at < mostProcesses; at++) {
    const directory = `/proc/${pending[at]}`
    try {
      if (hasTerminal(readFileSync(`${directory}/stat`, 'latin1'))) folders.add(readlinkSync(`${directory}/cwd`))
      for (const thread of readdirSync(`${directory}/task`)) {
        const children = readFileSync(`${directory}/task/${thread}/children`, 'latin1')
        pending.push(...(children.match(/\d+/g) ?? []).map(Number))
      }
    } catch {
      // The process has just ended, or isn't ours to look at.
    }
  }
  return [...folders]
}

const mostProcesses = 256

/** Whether a process has a controlling terminal: proc_pid_stat(5), field 7. The second field may contain blanks and parentheses. */
function hasTerminal(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4] !== '0'
}
