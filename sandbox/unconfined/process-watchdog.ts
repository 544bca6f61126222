// execa isn't used here, because the watchdog has to outlive this process, and every sandbox without namespaces starts one.
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { readdirSync, readFileSync } from '../host-paths.ts'
import { signal } from '../process/signal.ts'

/**
 * The environment variable that marks a command and all processes that it starts, so that even a process that has left the process group is found.
 */
export const markVariable = 'PORTCULLIS_COMMAND'

/**
 * The watchdog's script. It reads lines of the form `+ MARK PGID` and `- MARK PGID` until its standard input ends, which always happens when the
 * process that started the watchdog ends. It then kills the remaining processes, first with TERM and then with KILL. It searches for marked processes
 * several times, because a process may fork during a search.
 */
const script = `
trap '' TERM INT HUP
live=
while read -r op mark group; do case $op in
  +) live="$live $mark:$group" ;;
  -) rest=; for l in $live; do [ "$l" = "$mark:$group" ] || rest="$rest $l"; done; live=$rest ;;
esac; done
[ -n "$live" ] || exit 0
marked() { grep -lzsx -- "${markVariable}=$1" /proc/[0-9]*/environ | tr -dc '0-9\\n'; }
for l in $live; do kill -TERM -- "-\${l#*:}" $(marked "\${l%:*}") 2>/dev/null; done
sleep 1
for l in $live; do
  kill -KILL -- "-\${l#*:}" 2>/dev/null
  for round in 1 2 3 4 5; do p=$(marked "\${l%:*}"); [ -n "$p" ] || break; kill -KILL $p 2>/dev/null; done
done
`

/** A helper process that kills the processes of commands without namespaces when this process ends, even if this process is killed. */
type Watchdog = {
  /** Starts to watch the process group of a command. Call this as soon as the command has one. */
  watch(mark: string, group: number): void
  /** Stops watching a process group. Call this when the command and all processes that it left behind have ended. */
  forget(mark: string, group: number): void
  /** Stops the watchdog, which then kills the processes that it still watches. */
  close(): void
}

/**
 * Starts the watchdog: a shell that runs as long as the sandbox is open, and spends that time waiting for input. It needs procfs to find processes
 * that have left their group. Without procfs, it kills only the groups.
 */
export function startWatchdog(): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // The watchdog waits for the end of this process, so this process must not wait for the watchdog.
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  // Errors are ignored: if the watchdog exits early, this process still kills commands itself. The watchdog is needed only if this process is killed.
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  return {
    watch: (mark, group) => void shell.stdin.write(`+ ${mark} ${group}\n`),
    forget: (mark, group) => void shell.stdin.write(`- ${mark} ${group}\n`),
    close: () => void shell.stdin.end(),
  }
}

/** Kills what a finished command left behind: its process group, and every process whose environment contains the command's mark. */
export function sweep(mark: string, group: number): void {
  signal(-group, 'SIGKILL')
  for (let round = 0; round < 10; round += 1) {
    const left = processesMarked(mark)
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
  }
}

function processesMarked(mark: string): readonly number[] {
  const entry = `${markVariable}=${mark}\0`
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => environmentOf(pid).includes(entry))
      .map(Number)
  } catch {
    // Without procfs, only the process group is known.
    return []
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // The process belongs to somebody else, or has ended.
    return ''
  }
}
