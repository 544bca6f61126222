import { describe, expect, test } from 'vitest'
import { checkCommand, loadRules, shippedRules, type CheckOptions } from '../../policies/index.ts'

const rules = loadRules([shippedRules()])
const decide = (command: string, options: Partial<CheckOptions> = {}): string =>
  checkCommand(command, { approvalMode: 'never', sandbox: 'danger-full-access', rules, cwd: '/home/u/w', ...options })
    .decision

describe('sed', () => {
  test.each([
    `sed -i '14i\\print("x")' f`,
    "sed -i '5i import os' f",
    "sed -i '3,4c\\    return 1\\n' f",
    "sed -i '/x/a new' f",
    "sed -i '7r snippet.py' f",
    "sed -i '7d' f && sed -i '6a\\    )' f",
    "sed '3a\\\ntext' f",
  ])('adds text and files of the workspace: %j', (line) => expect(decide(line)).toBe('allow'))

  test.each([
    "sed '3a foo\ne id' f",
    "sed '3a foo\\\\\ne id' f",
    "sed '3a\\\ntext\nw q' f",
    "sed -e 'a\\' -e 'w q' f",
    "sed '1r .env' f",
    "sed '1R /etc/shadow' f",
    "sed '1r /etc/hosts' f",
  ])('runs, writes or reads something else: %j', (line) =>
    expect(decide(line, { approvalMode: 'untrusted' })).not.toBe('allow'),
  )

  test('a text that continues on the next line hides no command', () =>
    expect(decide("sed '3a foo\\\ne id' f", { approvalMode: 'untrusted' })).toBe('allow'))
})

test.each(['echo {a,$API_KEY}', "printf '%s\\n' {1,$GITHUB_TOKEN}", 'echo {1..3}$API_KEY', 'ls {a,"$X_TOKEN"}'])(
  'braces keep where a value comes from: %j',
  (line) => expect(decide(line, { approvalMode: 'untrusted' })).toBe('ask'),
)

describe('publishing', () => {
  test.each([
    'npm publish --dry-run',
    'npm publish -ws --access public --dry-run',
    'cargo publish --dry-run',
    'npm run publish',
    'npm run --workspace a publish',
    'dotnet publish',
  ])('does not happen: %j', (line) => expect(decide(line)).toBe('allow'))

  test.each([
    'npm publish --dry-run=false',
    'npm publish --dry-run false',
    'npm publish -- --dry-run',
    'git push --force -o --dry-run',
    'npx npm publish',
    'npm -w x publish',
    'pnpm --filter x publish',
    'bun publish',
    'yarn npm publish',
    'cargo +nightly publish',
    'python -m twine upload dist/*',
    'docker push x/y',
    'gh release create v1',
    'mvn -B clean deploy',
    './gradlew publish',
  ])('needs approval: %j', (line) => expect(decide(line, { approvalMode: 'bypass' })).toBe('ask'))
})

describe('privileges', () => {
  test.each([
    'run0 id',
    'runuser -u root id',
    'gosu root id',
    'setpriv --reuid 0 id',
    'machinectl shell',
    'systemd-run id',
    'sudoedit /etc/hosts',
    'docker run --privileged x',
    'docker run -v /:/host x',
    'docker run -v /var/run/docker.sock:/s x',
    'ssh root@localhost id',
  ])('of another user need approval: %j', (line) => expect(decide(line)).toBe('ask'))
  test.each(['docker run -v $PWD:/w x', 'ssh build-host make'])('are not requested: %j', (line) =>
    expect(decide(line)).toBe('allow'),
  )
})

describe('git', () => {
  test.each([
    'git switch --force-create=main HEAD~3',
    'git switch -Cmain HEAD~3',
    'git checkout -Bmain HEAD~3',
    'git submodule foreach "git reset --hard"',
    'git rebase -x "git clean -fdx" main',
    'git bisect run rm -rf .',
    'git tag -d $(git tag)',
    'git branch --merged | xargs git branch -d',
    'git config --get-regexp url',
    'git config url.x.insteadof',
  ])('loses something or shows tokens: %j', (line) => expect(decide(line)).toBe('ask'))

  test.each([
    'git config --global url.X.insteadOf Y',
    'git config --add credential.helper store',
    'git switch -C new',
    'git branch -d old',
    'git submodule foreach git status',
  ])('does neither: %j', (line) => expect(decide(line)).toBe('allow'))
})

test('an unknown program that is given a command is judged by that command too', () => {
  expect(decide('chronic rm -rf /etc')).toBe('ask')
  expect(decide('chronic rm -f a.o')).toBe('allow')
})

test('an example of not_match is compared as commands are compared', () => {
  const rule = (decision: string): string =>
    `prefix_rule(pattern = ["gh", "pr", "view"], decision = "${decision}", not_match = ["gh pr --repo openai/codex view 7888"])`
  const load = (text: string) => (): unknown => loadRules([{ path: 'a.rules', layer: 'user', text }])
  expect(load(rule('prompt'))).toThrow(/the rule matches .*not_match says that it must not/)
  expect(load(rule('allow'))).not.toThrow()
})
