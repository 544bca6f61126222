import { expect, test } from 'vitest'
import { checkCommand, loadPermissions, loadRules, type CheckOptions } from '../../policies/index.ts'
import type { RuleSet } from '../../policies/rules/rule-set.ts'
import { corpus } from './corpus.ts'

const patterns = [
  ...[
    '["git", "push"]',
    '["git", "push", "--force"]',
    '["git", ["reset", "clean"]]',
    '["git", "-C", "x", "log"]',
    '["git"]',
  ],
  ...[
    '["npm", "run", "deploy"]',
    '["npm", "run", "test"]',
    '["npm", "run"]',
    '["npm", "publish"]',
    '["yarn", "run", "build"]',
  ],
  ...[
    '["yarn", "build"]',
    '["pnpm", "test"]',
    '["make", "deploy", "all"]',
    '["make", "clean"]',
    '["rm", "-rf"]',
    '["rm", "-r", "x"]',
  ],
  ...[
    '["docker", "run"]',
    '["find", "-delete"]',
    '["python3", "-c"]',
    '["cat", "a.txt"]',
    '["sh", "-c"]',
    '["curl", "-X", "POST"]',
  ],
]
const spellings = [
  ...[
    'git push',
    'git -C d push origin',
    'git --force push',
    'git push -f',
    'git send-pack',
    'git-push',
    'GIT push',
    'git $x',
    'git pu*',
  ],
  ...[
    'npm rum deploy',
    'npm t',
    'npm run-script test',
    'npm publ',
    'yarn build',
    'yarn run build',
    'pnpm run test',
    'make all deploy',
  ],
  ...[
    'make x clean',
    'rm --recursive --force x',
    'rm -fr x',
    '/usr/bin/git push',
    'env git push',
    'xargs git push',
    'docker exec x git push',
  ],
  ...['$x push', 'git -c a.b=c push', 'npx npm run deploy', 'sh -c "git push"', 'git "$@"', 'cat $x', 'cat a.txt b'],
]

/** Copies rules without an index, so that every rule of a program is checked. */
function withoutIndex(rules: RuleSet): RuleSet {
  const byProgram = [...rules.byProgram].map(
    ([name, { all }]) => [name, { all, byWord: new Map(), others: all }] as const,
  )
  return { ...rules, byProgram: new Map(byProgram) }
}

test.each(['allow', 'prompt', 'forbidden'])(
  'rules that %s are found by a word of theirs as they are among all',
  (decision) => {
    const lines = patterns.map((pattern) => `prefix_rule(pattern=${pattern}, decision="${decision}")\n`)
    for (const text of [lines.join(''), ...lines]) {
      const rules = loadRules([{ path: 'a.rules', layer: 'user', text }])
      const options: CheckOptions = { approvalMode: 'never', sandbox: 'workspace-write', rules }
      const plain: CheckOptions = { ...options, rules: withoutIndex(rules) }
      const lines = text.split('\n').length > 2 ? [...spellings, ...corpus()] : spellings
      const said = (given: CheckOptions) => lines.map((line) => [line, checkCommand(line, given)])
      expect(said(options)).toEqual(said(plain))
    }
  },
)

test.each(['allow', 'ask', 'deny'])(
  'permissions with stars that %s are found among many as they are among few',
  (list) => {
    const meant = ['*push*', '* --force', 'gi*sh', '*', '*x * a*', 'rm *x']
    const idle = Array.from({ length: 60 }, (_, at) => `*no-${at} * such`)
    const check = (entries: readonly string[], line: string): string => {
      const text = JSON.stringify({ permissions: { [list]: entries.map((entry) => `Bash(${entry})`) } })
      const permissions = loadPermissions([{ path: '/w/.claude/settings.json', layer: 'user', folder: '/w', text }])
      return checkCommand(line, { approvalMode: 'untrusted', sandbox: 'workspace-write', permissions, cwd: '/w' })
        .decision
    }
    for (const entry of meant)
      for (const line of spellings) expect([line, check([...idle, entry], line)]).toEqual([line, check([entry], line)])
  },
)
