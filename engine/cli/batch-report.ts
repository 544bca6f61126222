import { resolve } from 'node:path'
import process from 'node:process'
import { writeDerived } from '../batch/derived/write-derived.ts'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { exitCodes } from '../core/exit-codes.ts'

/**
 * `agent batch report`: makes the files anew that are made of the runs.
 *
 * @throws UserError `usage` where the folder is none of a batch
 */
export async function batchReport(directory: string): Promise<number> {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  const { summary } = writeDerived(folder, folder.trials(folder.tasks()))
  process.stdout.write(`${summary.settled} of ${summary.trials} settled\n${folder.path}/report.html\n`)
  return exitCodes.done
}
