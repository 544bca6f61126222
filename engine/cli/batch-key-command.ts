import process from 'node:process'
import { makeBatchKey } from '../batch/queue/batch-key.ts'
import { exitCodes } from '../core/exit-codes.ts'

/** `agent batch key`: prints a new key, for batches whose workers share no directory. */
export function batchKey(): number {
  process.stdout.write(`${makeBatchKey()}\n`)
  return exitCodes.done
}
