import { expect, test } from 'vitest'
import {
  checkCommand,
  createGuardian,
  explainCheck,
  loadRules,
  nobody,
  readCommandTable,
  RuleError,
  testCommandTable,
  withoutAuditLog,
  type CheckOptions,
} from '../../policies/index.ts'

const untrusted: CheckOptions = { approvalMode: 'untrusted', sandbox: 'workspace-write' }

test('a check names every simple command, its class, and the deciding rule', () => {
  const rules = loadRules([
    {
      path: 'r.rules',
      layer: 'user',
      text: 'prefix_rule(pattern=["git","push"], decision="forbidden", justification="ask Ann")',
    },
  ])
  expect(checkCommand('ls && env git push | tee log', { ...untrusted, rules })).toEqual({
    command: 'ls && env git push | tee log',
    decision: 'deny',
    class: 'runs-code',
    commands: [
      { command: 'ls', class: 'read-only', reasons: [] },
      { command: 'env git push', class: 'read-only', reasons: [] },
      {
        command: 'git push',
        class: 'runs-code',
        reasons: ['uses the network', 'git runs the hooks of the repository'],
      },
      { command: 'tee log', class: 'writes', reasons: ['writes log'] },
    ],
    decidedBy: 'rules',
    reason: 'ask Ann',
    rule: 'r.rules:1 forbidden git push',
    reasons: ['uses the network', 'git runs the hooks of the repository', 'writes log'],
  })
})

test('a check agrees with the guardian on every mode and sandbox', () => {
  for (const approvalMode of ['untrusted', 'on-failure', 'on-request', 'never', 'bypass'] as const) {
    for (const sandbox of ['read-only', 'workspace-write', 'danger-full-access'] as const) {
      const guardian = createGuardian({ approvalMode, reviewer: nobody, audit: withoutAuditLog() })
      for (const line of [
        'ls',
        'touch x',
        'rm -rf .',
        'sudo ls',
        'eval x',
        'cat .env',
        'git reset --hard',
        'node x.js',
        'curl x.y',
      ]) {
        const argv = ['/bin/bash', '-c', line]
        const decided = guardian.assess({ type: 'exec', argv, cwd: '/', sandbox })
        expect(checkCommand(line, { approvalMode, sandbox })).toMatchObject({
          decision: decided.decision,
          reason: decided.reason,
        })
      }
    }
  }
})

test('an argument vector is checked as it is', () => {
  expect(checkCommand(['ls', '-la'], untrusted)).toMatchObject({ decision: 'allow', commands: [{ command: 'ls -la' }] })
  expect(checkCommand(['ls; rm x'], untrusted).decision).toBe('ask')
})

test('an explanation is in words, and a command can’t overwrite it on the terminal', () => {
  expect(explainCheck(checkCommand('rm -rf build', untrusted), untrusted)).toBe(
    [
      'rm -rf build',
      '  would need approval (mode untrusted, sandbox workspace-write)',
      '  decided by analysis: `rm -rf build`: it deletes build.',
      '  as a whole: destructive',
      '  - rm -rf build: destructive',
      '      it deletes build',
      '',
    ].join('\n'),
  )
  expect(explainCheck(checkCommand('ls \u001b[2K\u202e', untrusted), untrusted)).not.toMatch(/[\u001b\u202e]/)
})

test('a table holds shell lines, JSON strings and objects, with or without an expected decision', () => {
  const rows = readCommandTable(
    't',
    [
      '# comment',
      '',
      'ls -la',
      '{ ls; }',
      '"ls\\nrm x"',
      '{"command":["ls","-l"],"expect":"allow"}',
      '{"command":"rm x","label":"unsafe"}',
      '"$x" y',
      '{"command":"ls","expect":"deny"}',
    ].join('\n'),
  )
  expect(rows.map(({ command }) => command)).toEqual([
    'ls -la',
    '{ ls; }',
    'ls\nrm x',
    ['ls', '-l'],
    'rm x',
    '"$x" y',
    'ls',
  ])
  const result = testCommandTable(rows, untrusted)
  expect(result).toMatchObject({
    passed: 2,
    unjudged: 4,
    failed: [{ row: { line: 9 }, checked: { decision: 'allow' } }],
  })
})

test('a table row that is not a command is refused with its line', () => {
  expect(() => readCommandTable('t', 'ls\n{"comand":"x"}')).toThrow(RuleError)
  expect(() => readCommandTable('t', '{"command":"x","expect":"maybe"}')).toThrow(/not a command/)
})
