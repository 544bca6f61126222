import { Worker } from 'node:worker_threads'

/** The options of the watchdog that acts when a run exceeds its time limit. */
type WatchdogOptions = {
  /** The limit in milliseconds. If the run ends cleanly soon after reaching it, the watchdog does nothing. */
  readonly after: number
  /** Lines to print on standard output before the process is killed; '' for none. */
  readonly events: string
  /** The message to write to standard error before the process is killed. */
  readonly message: string
}

/**
 * How long the watchdog waits after the limit before it kills the process, in milliseconds. `stalled`: if the event loop is blocked. `ending`: if the run
 * doesn't end.
 */
const patience = { stalled: 3_000, ending: 30_000 }

/**
 * The code of the watchdog. It runs in its own thread, because a timer would never fire while the event loop is blocked. It waits in the kernel, which takes no
 * processor time.
 */
const source = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { shared, after, stalled, ending, events, message } = workerData
const state = new Int32Array(shared)
const closed = (time) => Atomics.wait(state, 1, 0, time) !== 'timed-out'
const write = (descriptor, text) => {
  try { writeSync(descriptor, text) } catch {}
}
if (!closed(after)) {
  let beat
  for (let waited = 0; waited < ending; waited += stalled) {
    beat = Atomics.load(state, 0)
    if (closed(stalled)) process.exit()
    if (Atomics.load(state, 0) === beat) break
  }
  if (events !== '') write(1, events)
  write(2, message)
  process.kill(process.pid, 'SIGKILL')
}
`

/**
 * Enforces a time limit even if the event loop is blocked. If the event loop stays blocked after the limit, or if the run doesn't end, the watchdog
 * writes the last events and kills the process with SIGKILL.
 *
 * @returns a function that stops the watchdog
 */
export function startWatchdog({ after, events, message }: WatchdogOptions): () => void {
  const shared = new SharedArrayBuffer(8)
  const state = new Int32Array(shared)
  const workerData = { shared, after, ...patience, events, message }
  const worker = new Worker(source, { eval: true, workerData, execArgv: [], stdout: false, stderr: false })
  worker.unref()
  // If the watchdog fails, the run continues, and only the run's own timer enforces the time limit.
  worker.on('error', () => undefined)
  const heart = setInterval(() => void Atomics.add(state, 0, 1), patience.stalled / 6)
  heart.unref()
  return () => {
    clearInterval(heart)
    Atomics.store(state, 1, 1)
    Atomics.notify(state, 1)
  }
}
