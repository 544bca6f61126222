import { makeBatchKey } from '../batch/queue/batch-key.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { print } from './print.ts'

/** `agent batch key`: prints a new key, for batches whose workers share no directory. */
export function batchKey(): number {
  print(makeBatchKey())
  return exitCodes.done
}
