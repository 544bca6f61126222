import process from 'node:process'
import { doctor, renderDoctor } from '../../sandbox/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { finishReviewsFirst } from './finish-reviews.ts'
import { statement } from './no-sandbox.ts'

/**
 * `agent doctor`: prints what this machine can enforce, after finishing what killed runs left.
 *
 * @returns 0 when some backend can confine commands here, else the code of a run that would find none
 */
export async function runDoctor(options: { readonly json?: true }): Promise<number> {
  await finishReviewsFirst()
  const report = await doctor()
  const advice = report.chosen === undefined ? `${statement}\n` : ''
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : renderDoctor(report) + advice)
  return report.chosen === undefined ? exitCodes.sandboxUnavailable : exitCodes.done
}
