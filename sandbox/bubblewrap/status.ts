import type { Readable } from 'node:stream'
import { z } from 'zod'

const Line = z.object({ 'child-pid': z.int().positive().optional(), 'exit-code': z.int().optional() })

/** What bwrap reports about itself while it runs. */
type Status = {
  /** The pid, as seen from here, of the first process in the command's pid namespace; undefined until it exists. */
  readonly initPid: number | undefined
  /** Whether the command itself was started and ended: bwrap reports an exit code only then. */
  readonly commandRan: boolean
  /** Resolves when bwrap has said all it will. */
  readonly closed: Promise<void>
}

/** Reads the JSON documents of bwrap's `--json-status-fd`, one a line. */
export function readStatus(source: Readable | null): Status {
  let initPid: number | undefined
  let commandRan = false
  let rest = ''
  source?.setEncoding('utf8')
  source?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter((text) => text.trim() !== '')) {
      const status = Line.parse(JSON.parse(line))
      initPid ??= status['child-pid']
      commandRan ||= status['exit-code'] !== undefined
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
    get commandRan() {
      return commandRan
    },
    closed,
  }
}
