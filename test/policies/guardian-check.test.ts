import { expect, test } from 'vitest'
import { checkCommand, createGuardian, loadRules, withoutAuditLog, type Reviewer } from '../../policies/index.ts'

const rules = loadRules([
  { path: 'own.rules', layer: 'user', text: 'prefix_rule(pattern = ["git", "push"], decision = "forbidden")\n' },
])
const guardian = () => createGuardian({ approvalMode: 'on-request', rules, reviewer, audit: withoutAuditLog() })

/** A reviewer that allows everything, but adds a rule that forbids `npm publish` from then on. */
const reviewer: Reviewer = {
  name: 'test',
  review: async () => ({
    outcome: 'allowed',
    reason: 'Yes.',
    rule: 'prefix_rule(pattern = ["npm", "publish"], decision = "forbidden")',
  }),
}

test.each(['rm -rf /', 'ls', 'git push', 'cd x && env git push', ['git', 'push']])(
  'a guardian checks %o as the check without one does',
  (command) => {
    const options = { approvalMode: 'on-request', sandbox: 'workspace-write', rules } as const
    expect(guardian().check(command)).toEqual(checkCommand(command, options))
  },
)

test('it distinguishes a forbidden command from a harmless one', () => {
  const { check } = guardian()
  expect([check('git push').decision, check('ls').decision]).toEqual(['deny', 'allow'])
})

test('nobody is asked and nothing recorded', () => {
  const { check, head } = guardian()
  const before = head()
  check('sudo reboot')
  expect(head()).toEqual(before)
})

test('a reviewer’s decision for the rest of the run also counts in a check', async () => {
  const { check, review } = guardian()
  const before = check('npm publish').decision
  const verdict = await review({ type: 'exec', argv: ['sudo', 'reboot'], cwd: '/', sandbox: 'danger-full-access' })
  expect(verdict.verdict.decidedBy).toBe('reviewer:test')
  expect([before, check('npm publish').decision]).toEqual(['allow', 'deny'])
})
