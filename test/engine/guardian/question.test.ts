import { join } from 'node:path'
import { expect, test } from 'vitest'
import { renderQuestion } from '../../../engine/approvals/render-question.ts'
import { createHumanReviewer, type Grant, type HumanQuestion } from '../../../policies/index.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** The text that a person sees when asked for these grants. */
async function asked(grants: readonly Grant[]): Promise<string> {
  let shown: HumanQuestion | undefined
  const ask = (question: HumanQuestion) => {
    shown = question
    return Promise.resolve({ choice: 'no' as const })
  }
  const escalation = { justification: 'It has to.', ...(grants.length === 0 ? {} : { grants }) }
  const action = { type: 'exec', argv: ['make'], cwd: '/w', sandbox: 'workspace-write', escalation } as const
  const reviewer = createHumanReviewer({ ask, writeRule: () => undefined })
  await reviewer.review({ action, mode: 'on-request', asksFor: 'escalation', reason: 'It asks for more.' } as never, {})
  if (shown === undefined) throw new Error('nobody was asked')
  return renderQuestion(shown, { rule: '/r', permission: '/p' } as never)
}

test('a question names all that is granted', async () => {
  const directory = tempDir({ 'a.txt': '' })
  const text = await asked([
    { kind: 'write', path: directory },
    { kind: 'write', path: join(directory, 'a.txt') },
    { kind: 'write', path: join(directory, 'new.txt') },
    { kind: 'network', host: 'example.com' },
    { kind: 'network', host: 'db.internal', port: 5432, private: true },
  ])
  expect(text).toContain(
    `asks for writing ${directory} and everything in it, writing ${directory}/a.txt, writing ${directory}/new.txt, ` +
      'connecting to example.com on ports 80 and 443, connecting to db.internal:5432, even at a private address: It has to.',
  )
  expect(text).toContain('yes, and grant this access to every command for the rest of the run')
})

test('a question without grants does not mention grants', async () => {
  expect(await asked([])).toContain('r  yes, and allow this exact action for the rest of the run\n')
})
