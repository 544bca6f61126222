import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { judge } from '../../../support/judge-change.ts'
import { needsBubblewrap } from '../../../support/needs.ts'
import { honestChanges } from './honest-changes.ts'

const noSandbox = needsBubblewrap()

describe.each(honestChanges)('with %s, an honest change', (runner, project, table) => {
  const { files, command, readable = [], isMissing } = project
  test.skipIf(noSandbox || isMissing()).each(Object.entries(table))('that %s', async (name, honest) => {
    const judged = await judge({
      files: { ...files, ...honest.more },
      change: honest.change,
      command: honest.command ?? command,
      readable,
      ...(honest.runs === undefined ? {} : { runs: honest.runs }),
    })
    const said = typeof judged === 'string' ? judged : [judged.judgement.verdict, ...judged.lines].join('\n')
    if (process.env['PORTCULLIS_TEST_SHOW'] !== undefined) process.stderr.write(`${runner}: ${name}: ${said}\n`)
    expect(typeof judged === 'string' ? judged : judged.judgement.verdict, said).toBe(honest.verdict ?? 'kept')
  })
})
