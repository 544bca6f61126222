import { Worker } from 'node:worker_threads'

/** What a watchdog does when a run outlives its time limit. */
type WatchdogOptions = {
  /** The limit in milliseconds. What ends in good order soon after it is left alone. */
  readonly after: number
  /** Written to standard output, whole lines; '' for nothing. */
  readonly events: string
  /** Written to standard error. */
  readonly message: string
}

/** How long the event loop may stand still after the limit, and how long a run that is ending may take at most. */
const patience = { stalled: 3_000, ending: 30_000 }

/**
 * The watchdog has a thread of its own, since what holds a run up may hold the event loop up: a timer there would never
 * fire. It waits in the kernel and costs nothing meanwhile.
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
 * Sees that a time limit holds whatever happens: when it is long past and the event loop stands still, or the run doesn't come to its
 * end, the last events are written and the process is ended by SIGKILL.
 *
 * @returns what calls the watchdog off
 */
export function startWatchdog({ after, events, message }: WatchdogOptions): () => void {
  const shared = new SharedArrayBuffer(8)
  const state = new Int32Array(shared)
  const workerData = { shared, after, ...patience, events, message }
  const worker = new Worker(source, { eval: true, workerData, execArgv: [], stdout: false, stderr: false })
  worker.unref()
  // Without it the run goes on; its own timer is what ends it then.
  worker.on('error', () => undefined)
  const heart = setInterval(() => void Atomics.add(state, 0, 1), patience.stalled / 6)
  heart.unref()
  return () => {
    clearInterval(heart)
    Atomics.store(state, 1, 1)
    Atomics.notify(state, 1)
  }
}
