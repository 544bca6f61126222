// execa isn't used here, because the call is synchronous and happens after each command.
import { spawnSync } from 'node:child_process'
import { patience } from '../process/patience.ts'
import { signal } from '../process/signal.ts'
import { markVariable } from '../unconfined/process-watchdog.ts'

/** The maximum number of searches for processes that are still running. One search isn't enough, because a process may fork during it. */
const rounds = 10

/**
 * Kills the processes that a finished command left behind: its process group, and every process whose environment still contains the command's mark.
 * A system program that has left the group isn't found, because macOS doesn't show the environments of system programs (ps(1), `-E`).
 */
export function killOrphans(mark: string, group: number): void {
  signal(-group, 'SIGKILL')
  for (let round = 0; round < rounds; round += 1) {
    const { stdout } = spawnSync('/bin/ps', ['-x', '-ww', '-E', '-o', 'pid=,command='], {
      encoding: 'utf8',
      ...patience,
    })
    const left = pidsMarked(stdout ?? '', mark)
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
  }
}

/** The pids of the processes whose environment contains the mark, according to the output of `ps`. */
export function pidsMarked(listing: string, mark: string): readonly number[] {
  const word = ` ${markVariable}=${mark}`
  return listing
    .split('\n')
    .filter((line) => line.endsWith(word) || line.includes(`${word} `))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid > 1)
}
