import { expect, test } from 'vitest'
import type { TransactionReport } from '../../../engine/core/run-summary.ts'
import { transactionLines } from '../../../engine/core/text/transaction-lines.ts'

const failed: TransactionReport = {
  strategy: 'copy',
  outcome: 'failed',
  files: 1,
  merged: [],
  conflicts: [],
  ignored: { files: 0, bytes: 0, landed: false },
  not_landed: [],
  commits: [],
  repositories: [],
  outside: [],
  can_undo: false,
  run: 'id',
  patch: '/p',
}

test('the summary says that the workspace is unchanged only if it is', () => {
  const firstLine = (transaction: TransactionReport): string | undefined =>
    transactionLines({ transaction }, (path) => path)[0]
  expect(firstLine(failed)).toContain('nothing landed, and the workspace is unchanged')
  expect(firstLine({ ...failed, tree: 'left-over' })).toContain('temporary files that could not be removed stay')
  expect(firstLine({ ...failed, tree: 'incomplete' })).toContain('the workspace may contain some of the changes')
})
