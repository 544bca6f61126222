import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { calls, resultsIn, says, scriptedRun } from '../../support/scripted-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

test.skipIf(needsBubblewrap())(
  'the output limit is that of one command, not of all reads of a run together',
  async () => {
    const workspace = tempDir()
    writeFileSync(join(workspace, 'big.txt'), `first\n${'x'.repeat(99)}\n`.repeat(6000))
    const read = (id: string) => calls('read_file', { path: 'big.txt', offset: 1, limit: 1 }, id)
    const print = calls('exec_command', { cmd: 'cat big.txt big.txt' }, 'print')
    const { history } = await scriptedRun({
      workspace,
      mode: 'workspace-write',
      overrides: ['sandbox_limits.output="1M"'],
      responses: [() => [read('1')], () => [read('2')], () => [read('3')], () => [print], () => [says('done')]],
    })
    const results = new Map(resultsIn(history))
    for (const id of ['1', '2', '3']) expect(results.get(id), id).toContain('first')
    expect(results.get('print')).toContain('output')
    expect(results.get('print')).toContain('killed')
  },
)
