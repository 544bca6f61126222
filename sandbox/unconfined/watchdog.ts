import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'

/** The variable that marks a command and everything it starts, so that what left its process group is still found. */
export const markVariable = 'PORTCULLIS_COMMAND'

/**
 * Reads `+MARK PGID` and `-MARK PGID` lines until its standard input ends, which it does however we end. A command that
 * ended in order (`-`) loses what it left behind at once; at the end, so do all that were still running. TERM first, for those
 * still running, then KILL. Marked processes are looked for until there are none, as one may fork while being looked for.
 */
const script = `
trap '' TERM INT HUP
marked() { for d in /proc/[0-9]*; do
  tr '\\0' '\\n' <"$d/environ" 2>/dev/null | grep -qx "${markVariable}=$1" && echo "\${d#/proc/}"
done 2>/dev/null; }
sweep() { kill -KILL -- "-$2" 2>/dev/null
  for round in 1 2 3 4 5; do p=$(marked "$1"); [ -n "$p" ] || return 0; kill -KILL $p 2>/dev/null; done; }
live=
while read -r op mark group; do case $op in
  +) live="$live $mark:$group" ;;
  -) rest=; for l in $live; do [ "$l" = "$mark:$group" ] || rest="$rest $l"; done; live=$rest
     sweep "$mark" "$group"; echo "$mark" ;;
esac; done
[ -n "$live" ] || exit 0
for l in $live; do kill -TERM -- "-\${l#*:}" $(marked "\${l%:*}") 2>/dev/null; done
sleep 1
for l in $live; do sweep "\${l%:*}" "\${l#*:}"; done
`

/** Sees to it that nothing of an unconfined command outlives the command, or us. */
type Watchdog = {
  /** A new mark, to be put into a command's environment as `markVariable`. */
  mark(): string
  /** To be told as soon as the command has a process group. */
  watch(mark: string, group: number): void
  /** Kills whatever the ended command left behind; resolves when nothing is left. */
  sweep(mark: string, group: number): Promise<void>
  /** Lets it go, which makes it end what is still being watched. */
  close(): void
}

/**
 * Starts the watchdog: one shell for as long as the sandbox is open, idle in `read`. It needs procfs to find processes that
 * left their group; without, it ends the group only.
 */
export function startWatchdog(): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  unref(shell)
  const waiting = new Map<string, () => void>()
  let rest = ''
  shell.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const mark of lines) waiting.get(mark)?.()
  })
  const giveUp = (): void => {
    for (const resolve of waiting.values()) resolve()
  }
  shell.once('error', giveUp)
  shell.once('exit', giveUp)
  shell.stdin?.on('error', giveUp)
  const tell = (line: string): void => void shell.stdin?.write(`${line}\n`)
  return {
    mark: randomUUID,
    watch: (mark, group) => tell(`+ ${mark} ${group}`),
    sweep: async (mark, group) => {
      if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return
      const swept = new Promise<void>((resolve) => waiting.set(mark, resolve))
      tell(`- ${mark} ${group}`)
      await swept
      waiting.delete(mark)
    },
    close: () => void shell.stdin?.end(),
  }
}

/** Lets our process end while the watchdog waits: that it then ends is what the watchdog is for. */
function unref(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout]) {
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
  }
}
