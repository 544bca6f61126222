import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  approvalModes,
  createGuardian,
  loadPermissions,
  loadRules,
  openAuditLog,
  readAuditLog,
  replayRecords,
  shippedRules,
  type Action,
  type Guardian,
  type GuardianOptions,
  type PermissionSet,
  type ReplayOptions,
  type ReviewerAnswer,
  type SandboxMode,
} from '../../policies/index.ts'
import { corpus } from './corpus.ts'
import { shellAction } from './decisions.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-replay-'))
afterAll(() => rmSync(folder, { recursive: true }))

const written = `
prefix_rule(pattern = ["make", "deploy"], decision = "forbidden", justification = "Ask a person.")
prefix_rule(pattern = ["git", "push"], decision = "prompt")
prefix_rule(pattern = ["terraform", "plan"], decision = "allow")
network_rule(host = "api.example.com", protocol = "https", decision = "allow")
network_rule(host = "evil.example.com", protocol = "https", decision = "deny")
`
const rules = loadRules([shippedRules(), { path: 'team.rules', layer: 'user', text: written }])
const lists = {
  allow: ['Edit(docs/**)', 'mcp__files__read'],
  ask: ['Edit(src/generated/**)', 'mcp__files__*'],
  deny: ['Read(secrets/**)', 'WebFetch(domain:bad.example.com)'],
}
const permissions: PermissionSet = {
  ...loadPermissions([
    {
      path: '/repo/.claude/settings.json',
      layer: 'user',
      folder: '/repo',
      text: JSON.stringify({ permissions: lists }),
    },
  ]),
  base: '/repo',
}
const machine: Partial<GuardianOptions> = {
  writableRoots: ['/repo', '/tmp/more'],
  protects: (path) => (path.includes('/.git/') ? 'git' : undefined),
  conceals: (paths) =>
    paths.filter((path) => path.startsWith('/repo/mine')).map((path) => ({ path, place: '/repo/mine' })),
  permissions: {
    ...permissions,
    // This stands for a link on the machine that no longer exists when actions are judged again.
    realPath: (path) => path.replace('/repo/link', '/repo/secrets'),
  },
}

const sandboxes: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access']

function otherActions(sandbox: SandboxMode): readonly Action[] {
  const patch = (path: string): Action => ({
    type: 'patch',
    root: '/repo',
    sandbox,
    changes: [{ path, kind: 'update', movedFrom: '/repo/b' }],
  })
  return [
    ...['/repo/a', '/repo/docs/a', '/repo/src/generated/a', '/repo/.git/hooks/x', '/etc/passwd', '/tmp/more/a'].map(
      patch,
    ),
    { type: 'patch', root: '/repo', sandbox, changes: [{ path: '/repo/AGENTS.md', kind: 'add' }], instructs: true },
    ...['/repo/a', '/repo/secrets/a', '/repo/link/a', '/repo/mine/key', '/home/me/.ssh/id_rsa'].map((path): Action => ({
      type: 'read',
      path,
    })),
    ...['api.example.com', 'evil.example.com', 'bad.example.com', 'else.example.com'].map((host): Action => ({
      type: 'network',
      host,
      port: 443,
      protocol: 'https',
    })),
    { type: 'search', model: 'a-model', fits: false, domains: ['example.com'] },
    { type: 'search', model: 'a-model', fits: true, insisted: true },
    { type: 'mcp', server: 'files', tool: 'read', arguments: { path: 'a' }, readOnlyHint: true },
    { type: 'mcp', server: 'files', tool: 'write', arguments: undefined },
    { type: 'plan', plan: 'first this, then that', requestedBy: 'user' },
    ...[
      [{ kind: 'network', host: 'registry.example.com', port: 443 }] as const,
      [{ kind: 'network', host: 'registry.example.com', port: 443 }] as const,
      [{ kind: 'write', path: '/repo/.git/hooks' }] as const,
      [{ kind: 'read', path: '/repo/mine/key' }] as const,
      undefined,
    ].map((grants): Action => ({
      ...shellAction('npm publish', sandbox),
      escalation: { justification: 'needs it', ...(grants === undefined ? {} : { grants }) },
    })),
    shellAction('cat link/a && cat mine/key', sandbox),
    shellAction('npm publish', sandbox),
    shellAction('docker build .', sandbox),
  ]
}

/** The answers that the reviewers give one after another. They include every outcome, approvals for one action and for the whole run, with and without a rule. */
const answers: readonly ReviewerAnswer[] = [
  { outcome: 'denied', reason: 'No.' },
  { outcome: 'allowed', reason: 'Yes.' },
  { outcome: 'allowed', reason: 'For the run.', scope: 'run' },
  { outcome: 'timed-out', reason: 'Nobody came.' },
  { outcome: 'allowed', reason: 'Always.', rule: 'prefix_rule(pattern = ["docker"], decision = "allow")' },
  { outcome: 'unavailable', reason: 'Gone.' },
  { outcome: 'malformed', reason: 'What?' },
  { outcome: 'aborted', reason: 'Stop.' },
]

async function judgeAll(guardian: Guardian, actions: readonly Action[]): Promise<void> {
  for (const [at, action] of actions.entries()) {
    const said = [
      {},
      {},
      { hook: { decision: 'ask', reason: 'A hook asks.' } } as const,
      { hook: { decision: 'allow', reason: 'A hook allows.' } } as const,
      { hook: { decision: 'allow', reason: 'The skill allows it.', by: 'skill' } } as const,
      { refuse: 'It is not there.' },
      { refuse: 'A hook blocks it.', refusedBy: 'hook' },
      { byUser: 'user' },
    ][at % 8]
    await guardian.review(action, said)
  }
}

let count = 0
async function recorded(actions: readonly Action[], more: Partial<GuardianOptions>): Promise<string> {
  const path = join(folder, `log-${count++}.jsonl`)
  const audit = openAuditLog(path)
  let next = 0
  const reviewer = {
    name: 'test',
    review: () => Promise.resolve(answers[next++ % answers.length] ?? { outcome: 'denied' as const, reason: 'No.' }),
  }
  await judgeAll(
    createGuardian({ approvalMode: 'on-request', rules, reviewer, planReviewer: reviewer, audit, ...machine, ...more }),
    actions,
  )
  audit.close()
  return path
}

const same = { rules, permissions }

function decisions(path: string, options: ReplayOptions): readonly string[] {
  return [...replayRecords(readAuditLog(path), options)].map(({ verdict }) => verdict.decision)
}

describe('actions that are judged again', () => {
  test.each(approvalModes.flatMap((mode) => sandboxes.map((sandbox) => [mode, sandbox] as const)))(
    'under the same rules get the verdicts of the audit log: %s, %s',
    async (approvalMode, sandbox) => {
      const lines = corpus().map((line) => shellAction(line, sandbox))
      const path = await recorded([...otherActions(sandbox), ...lines, ...otherActions(sandbox)], { approvalMode })
      const records = readAuditLog(path)
      expect(records.length).toBeGreaterThan(500)
      const replayed = [...replayRecords(records, same)]
      // Secrets are redacted in the log, so a line that contained one may get a different verdict when it is judged again.
      const whole = replayed.filter(({ record }) => !JSON.stringify(record.action).includes('[redacted]'))
      expect(replayed.length - whole.length).toBeLessThan(40)
      const again = whole.map(({ verdict }) => verdict)
      const then = whole.map(({ record: { verdict } }) => {
        const { decision, decidedBy, reason, rule } = verdict
        return { decision, decidedBy, reason, ...(rule === undefined ? {} : { rule }) }
      })
      expect(again).toEqual(then)
    },
  )

  test('a removed rule and a new one change only the actions that they cover', async () => {
    const lines = ['make deploy', 'ls', '', '', '', '', '', '', 'git push', 'terraform plan']
    const path = await recorded(
      lines.map((line) => shellAction(line)),
      {},
    )
    const chosen = (decided: readonly string[]): readonly unknown[] => [0, 1, 8, 9].map((at) => decided[at])
    const then = readAuditLog(path).map(({ verdict }) => verdict.decision)
    expect(chosen(then)).toEqual(['deny', 'allow', 'allow', 'allow'])
    expect(chosen(decisions(path, { rules: loadRules([shippedRules()]) }))).toEqual([
      'allow',
      'allow',
      'allow',
      'allow',
    ])
    const stricter = loadRules([
      shippedRules(),
      { path: 'x', layer: 'user', text: `${written}prefix_rule(pattern = ["ls"], decision = "prompt")` },
    ])
    expect(chosen(decisions(path, { ...same, rules: stricter }))).toEqual(['deny', 'ask', 'allow', 'allow'])
  })

  test('a stricter mode asks about more actions, and a mode that asks nobody refuses them', async () => {
    const path = await recorded([shellAction('touch x'), shellAction('sudo ls')], {})
    expect(decisions(path, { ...same, approvalMode: 'untrusted' })).toEqual(['ask', 'deny'])
    expect(decisions(path, { ...same, approvalMode: 'never' })).toEqual(['allow', 'deny'])
    expect(decisions(path, { ...same, approvalMode: 'bypass' })).toEqual(['allow', 'allow'])
  })

  test('a person’s approval no longer counts in a mode that asks nobody', async () => {
    const yes = { name: 'test', review: () => Promise.resolve({ outcome: 'allowed', reason: 'Yes.' } as const) }
    const path = await recorded([shellAction('cat .env')], { reviewer: yes })
    expect(decisions(path, same)).toEqual(['allow'])
    expect(decisions(path, { ...same, approvalMode: 'never' })).toEqual(['deny'])
  })

  test('under another sandbox, patches that it would not allow are asked about', async () => {
    const path = await recorded([otherActions('workspace-write')[0] ?? shellAction('ls')], {})
    expect(decisions(path, same)).toEqual(['allow'])
    expect(decisions(path, { ...same, sandbox: 'read-only' })).toEqual(['ask'])
  })

  test('a record of an earlier version without a basis is interpreted by who decided', async () => {
    const path = await recorded(
      ['touch a', 'touch b', 'touch c', 'touch d', 'touch e', 'touch f', 'touch g'].map((line) => shellAction(line)),
      { approvalMode: 'untrusted' },
    )
    const records = readAuditLog(path).map(({ basis: _, ...record }) => record)
    const again = [...replayRecords(records, same)].map(({ verdict }) => verdict.decision)
    expect(again).toEqual(records.map(({ verdict }) => verdict.decision))
  })

  test('a line that is not a record is an error with its number', async () => {
    const path = await recorded([shellAction('ls'), shellAction('pwd')], {})
    const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, `${first}\n${second.replace('"exec"', '"dance"')}\n`)
    expect(() => readAuditLog(path)).toThrow(/line 2 is not a record of an audit log \(action\.type: /)
  })
})
