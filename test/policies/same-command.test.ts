import { describe, expect, test } from 'vitest'
import { checkCommand, defaultRules, loadPermissions, loadRules } from '../../policies/index.ts'
import { decide } from './decisions.ts'

/** The decision about a line if the command `denied` is on the deny list. */
function decideDenied(line: string, denied: string): string {
  const text = JSON.stringify({ permissions: { deny: [`Bash(${denied})`] } })
  const permissions = loadPermissions([{ path: '/w/.claude/settings.json', layer: 'user', folder: '/w', text }])
  return checkCommand(line, { approvalMode: 'never', sandbox: 'workspace-write', permissions, cwd: '/w' }).decision
}

/** The decision about a line if a rule forbids the commands that begin with `pattern`. */
function decideForbidden(line: string, ...pattern: readonly string[]): string {
  return decide(line, {
    rules: `prefix_rule(pattern = ${JSON.stringify(pattern)}, decision = "forbidden")`,
    mode: 'never',
  })
}

describe('a denied command is also denied in other spellings that its program accepts', () => {
  test.each([
    ['make deploy:*', 'make build deploy'],
    ['make deploy:*', 'make X=1 deploy'],
    ['make deploy:*', 'make -j4 build test deploy'],
    ['make deploy:*', 'make $targets'],
    ['just deploy:*', 'just build deploy'],
    ['npm run release', 'npm run-script release'],
    ['npm run release', 'npm rum release'],
    ['npm run release', 'npm urn release'],
    ['npm run release', 'npm ru release'],
    ['npm run test', 'npm test'],
    ['npm run test', 'npm t'],
    ['npm install:*', 'npm i left-pad'],
    ['npm publish:*', 'npm publ'],
    ['npm publish:*', 'npm pub --tag x'],
    ['yarn run release', 'yarn release'],
    ['pnpm release', 'pnpm run release'],
  ])('Bash(%s): %s', (denied, line) => expect(decideDenied(line, denied)).toBe('deny'))

  test.each([
    ['make deploy:*', 'make build'],
    ['make deploy:*', 'make deploy-docs'],
    ['npm run release', 'npm run build'],
    ['npm run release', 'npm run-script release-notes'],
    ['npm run test', 'npm run t'],
    ['npm publish:*', 'npm pack'],
    ['npm install:*', 'npm test'],
    ['yarn run release', 'yarn build'],
  ])('Bash(%s) says nothing of %s', (denied, line) => expect(decideDenied(line, denied)).toBe('allow'))
})

describe('options of a rule count in every spelling that the program accepts', () => {
  test.each(['rm -Rf x', 'rm -R -f x', 'rm --recursive --force x', 'rm --recurs -f x', 'rm -fR x'])(
    'rm -rf: %s',
    (line) => expect(decideForbidden(line, 'rm', '-rf')).toBe('deny'),
  )
  test.each(['rm -R x', 'rm --force x', 'rm x'])('rm -rf is not %s', (line) =>
    expect(decideForbidden(line, 'rm', '-rf')).toBe('allow'),
  )
  test.each(['git push -f', 'git push origin +main', 'git push --forc'])('git push --force: %s', (line) =>
    expect(decideForbidden(line, 'git', 'push', '--force')).toBe('deny'),
  )
  test('git push --force covers no other push', () =>
    expect(decideForbidden('git push origin main', 'git', 'push', '--force')).toBe('allow'))
  test('the default rules also know them', () => {
    const rules = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])
    const check = { approvalMode: 'never', sandbox: 'workspace-write', rules } as const
    expect(checkCommand('rm --recursive --force ~', check).decision).toBe('deny')
  })
})

test.each([
  '/usr/lib/git-core/git-push -q o HEAD',
  'git-push o',
  'git send-pack ../r.git HEAD:main',
  'git -C . send-pack x',
])('git push by the file or the plumbing behind it: %s', (line) =>
  expect(decideForbidden(line, 'git', 'push')).toBe('deny'),
)
