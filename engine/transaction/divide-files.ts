import { availableParallelism } from 'node:os'
import { SHARE_ENV, Worker } from 'node:worker_threads'
import type { HowToCopy } from './copy-file.ts'
import type { CopiedFile } from './copy-record.ts'
import { copyingProgram, rowFields, type SharedCopying } from './copy-small.ts'
import type { Stamped } from './view-manifest.ts'

/** A list of files of which this thread copies the first ones, and a second thread the last ones, until they meet. */
export type DividedFiles = {
  /** Claims the next file for this thread; undefined if all files are claimed. */
  readonly claim: () => string | undefined
  /** Yields the files that the second thread has finished since the last call. `file` is undefined if it left the file to this thread. */
  readonly finished: () => Iterable<{ readonly key: string; readonly file: CopiedFile | undefined }>
  /** Waits until the second thread has finished all files that it claimed. @throws the error if the thread failed */
  readonly ended: () => Promise<void>
  /** Makes the second thread stop after its current file, and waits for that. */
  readonly stop: () => Promise<void>
}

/** The number of files from which a second thread pays off. Starting it takes 2 ms of this thread, and 20 ms pass until it copies its first file. */
const worthwhileFrom = 1000

/** Divides the regular files of a tree, given by their keys, and starts the second thread if it pays off. */
export function divideFiles(from: string, to: string, keys: readonly string[], how: HowToCopy): DividedFiles {
  const progress = new Int32Array(new SharedArrayBuffer(8))
  const pays = how === 'copy' && keys.length >= worthwhileFrom && availableParallelism() > 1
  const rows = new BigInt64Array(new SharedArrayBuffer(pays ? keys.length * rowFields * 8 : 0))
  const ended = pays ? start({ from, to, keys: keys.join('\0'), progress, rows }) : Promise.resolve()
  let [own, taken] = [0, 0]
  return {
    claim: () => (Atomics.add(progress, 0, 1) < keys.length ? keys[own++] : undefined),
    *finished() {
      for (const until = Atomics.load(progress, 1); taken < until; taken++) {
        const at = keys.length - 1 - taken
        yield { key: keys[at] ?? '', file: fileIn(rows, at * rowFields) }
      }
    },
    ended: () => ended,
    stop: async () => {
      Atomics.store(progress, 0, keys.length)
      await ended.catch(() => undefined)
    },
  }
}

function start(workerData: SharedCopying): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // The error is thrown where `ended` is awaited.
  promise.catch(() => undefined)
  try {
    const worker = new Worker(copyingProgram(), { eval: true, workerData, execArgv: [], env: SHARE_ENV })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  } catch {
    // If no thread can be started, this thread copies everything.
    resolve()
  }
  return promise
}

function fileIn(rows: BigInt64Array, first: number): CopiedFile | undefined {
  const field = (at: number): bigint => rows[first + at] ?? 0n
  const stampedAt = (at: number): Stamped => ({
    mode: field(at),
    size: field(at + 1),
    ino: field(at + 2),
    mtimeNs: field(at + 3),
    ctimeNs: field(at + 4),
  })
  const [original, copy] = [stampedAt(0), stampedAt(5)]
  return copy.ino === 0n ? undefined : { original, copy: { ...copy, dev: field(10) }, isLinked: false }
}
