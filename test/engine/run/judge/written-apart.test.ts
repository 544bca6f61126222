import { describe, expect, test } from 'vitest'
import { judge } from '../../../support/judge-change.ts'
import { needsBubblewrap } from '../../../support/needs.ts'
import { writtenApart } from './written-apart.ts'

const noSandbox = needsBubblewrap()

describe.each(writtenApart)('with %s, a change', (_, project, table) => {
  const { readable = [], isMissing } = project
  test.skipIf(noSandbox || isMissing()).each(Object.entries(table))('that %s', async (_name, apart) => {
    const judged = await judge({
      files: { ...project.files, ...apart.more },
      change: apart.change,
      command: apart.command ?? project.command,
      readable,
      ...(apart.runs === undefined ? {} : { runs: apart.runs }),
    })
    if (typeof judged === 'string') throw new Error(`the command failed: ${judged}`)
    const { verdict } = judged.judgement
    expect(apart.verdict === 'stays' && !judged.passes ? 'stays' : verdict, judged.lines.join('\n')).toBe(apart.verdict)
  })
})
