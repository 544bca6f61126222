import { describe, expect, test } from 'vitest'
import { judge } from '../../../support/judge-change.ts'
import { needsBubblewrap } from '../../../support/needs.ts'
import { weakenings } from './weakenings.ts'

const noSandbox = needsBubblewrap()

describe.each(weakenings)('with %s, no change passes that', (_, project, table) => {
  const { files, command, readable = [], isMissing } = project
  test.skipIf(noSandbox || isMissing()).each(Object.entries(table))('%s', async (_name, weakening) => {
    const judged = await judge({
      files: { ...files, ...weakening.more },
      change: weakening.change,
      command: weakening.command ?? command,
      readable,
      ...(weakening.runs === undefined ? {} : { runs: weakening.runs }),
    })
    const said = typeof judged === 'string' ? judged : [judged.judgement.verdict, ...judged.lines].join('\n')
    if (process.env['PORTCULLIS_TEST_SHOW'] !== undefined) process.stderr.write(`${_}: ${_name}: ${said}\n`)
    expect(typeof judged === 'string' ? false : judged.passes, said).toBe(false)
  })
})
