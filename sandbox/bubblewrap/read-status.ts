import type { Readable } from 'node:stream'

/** What bwrap has reported about itself so far. */
type Status = {
  /** The process id, in our own namespace, of the first process in the command's pid namespace; undefined until it exists. */
  readonly initPid: number | undefined
  /**
   * Calls `act` with `initPid`, at once or as soon as it is known. Until then, killing bwrap is unsafe. bwrap first creates the namespace, and only later
   * tells the kernel to kill the namespace's processes when bwrap ends. If bwrap is killed in between, the command keeps running.
   */
  readonly whenKnown: (act: (initPid: number) => void) => void
  /** Whether the command itself has started and ended. Only then does bwrap report an exit code. */
  readonly commandRan: boolean
  /** Resolves after bwrap's last report. */
  readonly closed: Promise<void>
}

/** Reads the JSON documents that bwrap writes to `--json-status-fd`, one per line. */
export function readStatus(source: Readable | null): Status {
  let initPid: number | undefined
  let commandRan = false
  let rest = ''
  const waiting: ((initPid: number) => void)[] = []
  source?.setEncoding('utf8')
  source?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter((text) => text.trim() !== '')) {
      const status: unknown = JSON.parse(line)
      initPid ??= integerIn(status, 'child-pid')
      if (initPid !== undefined) for (const act of waiting.splice(0)) act(initPid)
      commandRan ||= integerIn(status, 'exit-code') !== undefined
    }
  })
  const closed = new Promise<void>((resolve) => {
    if (source === null) resolve()
    source?.once('close', resolve)
    source?.once('error', () => resolve())
  })
  return {
    get initPid() {
      return initPid
    },
    whenKnown: (act) => {
      if (initPid === undefined) waiting.push(act)
      else act(initPid)
    },
    get commandRan() {
      return commandRan
    },
    closed,
  }
}

/** An integer in one of bwrap's documents; undefined if the document doesn't contain it. */
function integerIn(document: unknown, key: 'child-pid' | 'exit-code'): number | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  const value: unknown = Reflect.get(document, key)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
