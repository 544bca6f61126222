import process from 'node:process'
import { doctor, renderDoctor } from '../../sandbox/index.ts'
import { exitCodes } from '../exit-codes.ts'

/**
 * `agent doctor`: prints what this machine can enforce.
 *
 * @returns 0 when some backend can confine commands here, else the code of a run that would find none
 */
export async function runDoctor(options: { readonly json?: true }): Promise<number> {
  const report = await doctor()
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : renderDoctor(report))
  return report.chosen === undefined ? exitCodes.sandboxUnavailable : exitCodes.done
}
