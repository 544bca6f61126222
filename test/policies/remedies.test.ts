import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  createGuardian,
  defaultRules,
  loadRules,
  nobody,
  withoutAuditLog,
  type ApprovalMode,
  type RuleFile,
} from '../../policies/index.ts'
import type { SandboxMode } from '../../policies/action.ts'
import { shellAction } from './decisions.ts'

type Setting = { readonly mode: ApprovalMode; readonly sandbox: SandboxMode; readonly rules?: string }

const shipped: RuleFile = { path: 'default.rules', layer: 'default', text: defaultRules }

/** Why a line that needs approval is refused if nobody answers. Undefined if it needs none, or if it is forbidden outright. */
async function refusal(line: string, { mode, sandbox, rules = '' }: Setting): Promise<string | undefined> {
  const guardian = createGuardian({
    approvalMode: mode,
    rules: loadRules([shipped, { path: 'user.rules', layer: 'user', text: rules }]),
    reviewer: nobody,
    audit: withoutAuditLog(),
  })
  const { verdict } = await guardian.review(shellAction(line, sandbox))
  return verdict.decidedBy === 'reviewer:nobody' || verdict.decidedBy === 'guardian' ? verdict.reason : undefined
}

const modes = ['untrusted', 'on-failure', 'on-request', 'never'] as const
const sandboxes = ['read-only', 'workspace-write', 'danger-full-access'] as const

/** Every tenth row of the table of commands, and a few other commands. */
const lines = [
  ...readFileSync(new URL('../../fixtures/policies/commands.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((_, at) => at % 10 === 0)
    .map((line) => (JSON.parse(line) as { command: string }).command),
  ...['sudo ls', 'cat ~/.aws/credentials', 'rm -rf .', 'git reset --hard', 'eval "$y"', 'touch a && rm b'],
  ...[
    'git push --force',
    'npm publish',
    'a=1; $a b',
    'echo "x" > y',
    'python3 -c \'print("é\\n")\'',
    'mkfs.ext4 /dev/sda',
  ],
]

describe.each(modes)('in the mode %s', (mode) => {
  test.each(sandboxes)('each remedy in a refusal lets the command run, in %s', async (sandbox) => {
    const setting: Setting = { mode, sandbox }
    const wrong: unknown[] = []
    for (const line of new Set(lines)) {
      const said = await refusal(line, setting)
      if (said === undefined) continue
      const rules = /by adding this to a \.rules file: ([^]*)$/.exec(said)?.[1]
      const other = /with --ask-for-approval (\S+);/.exec(said)?.[1] as ApprovalMode | undefined
      if (rules !== undefined) {
        const after = await refusal(line, { ...setting, rules })
        if (after !== undefined) wrong.push({ line, rules, after })
      } else if (other !== undefined) {
        const after = await refusal(line, { ...setting, mode: other })
        if (after !== undefined) wrong.push({ line, other, after })
      } else if (/No rule and no other approval mode/.test(said)) {
        for (const each of modes)
          if ((await refusal(line, { sandbox, mode: each })) === undefined) wrong.push({ line, each })
      } else if (!/That rule is built into Portcullis/.test(said)) wrong.push({ line, said })
    }
    expect(wrong).toEqual([])
  })
})

test('no user rule overrides a rule that comes with the program', async () => {
  const rules = 'prefix_rule(pattern = ["git", "push", "--force"], decision = "allow")\n'
  const setting: Setting = { mode: 'never', sandbox: 'workspace-write', rules }
  expect(await refusal('git push --force', setting)).toMatch(
    /That rule is built into Portcullis, and no other rule overrides it/,
  )
})

test('if nothing can allow a command, the message says so and names no rule', async () => {
  for (const line of ['cat ~/.aws/credentials', 'cat .env']) {
    const said = await refusal(line, { mode: 'never', sandbox: 'workspace-write' })
    expect(said).toMatch(/No rule and no other approval mode lets it run without approval/)
    expect(said).not.toMatch(/prefix_rule/)
  }
})
