import { describe, expect, test } from 'vitest'
import { createGuardian, defaultRules, loadRules, nobody, withoutAuditLog } from '../../policies/index.ts'
import { decide, shellAction } from './decisions.ts'

const rules = 'prefix_rule(pattern=["git", "push"], decision="forbidden", justification="no pushing")'
const inSandbox = { rules, mode: 'never' } as const

describe('a rule that forbids git push', () => {
  test.each([
    'git push',
    'git push origin main',
    'ls && git push',
    'git status; git push',
    '/usr/bin/git push',
    'env git push',
    'command git push',
    "sh -c 'git push'",
    "bash -lc 'cd x && git push'",
    'git -C . push',
    'git -C ../other push',
    'git -c a.b=c push',
    'git --no-pager push',
    'git --git-dir=x push',
    'FOO=1 git push',
    'env FOO=1 git push',
    'git push > /dev/null',
    'git push 2>&1 | tee log',
    'cmd=git; $cmd push',
    'cmd="git push"; $cmd',
    'for c in git; do $c push; done',
    'timeout 5 git push',
    'nice -n 5 nohup git push',
    'xargs git push < f',
    'echo push | xargs git',
    'find . -exec git push \\;',
    'exec git push',
    'builtin command git push',
    'eval "git push"',
    'eval git push',
    'trap "git push" EXIT',
    'if true; then git push; fi',
    'f() { git push; }; f',
    'echo $(git push)',
    'echo "`git push`"',
    'cat <<EOF\n$(git push)\nEOF',
    'bash <<< "git push"',
    "bash <<'EOF'\ngit push\nEOF",
    'g""it pu\\sh',
    "$'git' push",
    'gi\\\nt push',
    'git \\\n  push',
    'time git push',
    '! git push',
    '(git push)',
    'coproc git push',
    'sudo git push',
    'busybox git push',
    'GIT push',
    'git $args',
    'git "$verb"',
    '$x',
    '$x push',
    '{git,push}',
    '{git,push} origin',
    'eval "$x"',
    'echo git push | sh',
    'echo Z2l0IHB1c2g= | base64 -d | bash',
    'zsh -c "git push"',
    'env -S "git push"',
    'parallel git ::: push',
    'frobnicate --exec git push',
    'ssh host git push',
    'git\u00a0push; git push',
    "x='a[$(git push)]'; [[ $x -eq 0 ]]",
    "x='a[$(git push)]'; echo $((x))",
  ])('is not got round by %j', (line) => {
    expect(decide(line, inSandbox)).not.toBe('allow')
    expect(decide(line, { ...inSandbox, mode: 'on-request' })).not.toBe('allow')
  })

  test.each([
    'git pull',
    'git log --grep=push',
    'git stash push -m x',
    'git log push',
    'echo git push',
    'grep "git push" README.md',
    "cat <<'EOF'\ngit push\nEOF",
    'npm run push',
    'for ((i=0; i<3; i++)); do echo $i; done',
    'n=$(wc -l < f); [[ $n -gt 3 ]] && echo many',
    'x=5; echo $((x + 1))',
    '"$PYTHON" -m pytest',
    'node build.js "$target"',
    'git commit -m "git push later"',
  ])('says nothing about %j', (line) => {
    expect(decide(line, inSandbox)).toBe('allow')
  })

  test('gives its reason, its location and the command', () => {
    const guardian = createGuardian({
      approvalMode: 'never',
      rules: loadRules([{ path: 'my.rules', layer: 'user', text: rules }]),
      reviewer: nobody,
      audit: withoutAuditLog(),
    })
    expect(guardian.assess(shellAction('env git -C . push origin'))).toMatchObject({
      decision: 'deny',
      stage: 'rules',
      reason: 'no pushing',
      rule: 'my.rules:1 forbidden git push',
    })
  })
})

describe('options in a restricting rule', () => {
  const rm = 'prefix_rule(pattern=["rm", "-rf"], decision="forbidden")'
  test.each(['rm -rf x', 'rm -fr x', 'rm -r -f x', 'rm x -rf', 'rm -vrf x', 'rm -r x -f', 'rm -r $f', '/bin/rm -rf x'])(
    'count in any order and bundle: %s',
    (line) => expect(decide(line, { rules: rm, mode: 'never' })).not.toBe('allow'),
  )
  test.each(['rm x', 'rm -r x', 'rm -f x'])('count only if all are present: %s', (line) =>
    expect(decide(line, { rules: rm, mode: 'never' })).toBe('allow'),
  )
  test('count if a long one has a value or is abbreviated', () => {
    const force = 'prefix_rule(pattern=["tool", "deploy", "--force"], decision="forbidden")'
    for (const line of [
      'tool deploy --force',
      'tool --force deploy',
      'tool deploy x --force=yes',
      'tool deploy --forc',
    ]) {
      expect([line, decide(line, { rules: force, mode: 'never' })]).toEqual([line, 'deny'])
    }
  })
})

describe('an allow rule in untrusted mode', () => {
  const allow = (text: string) => ({ rules: text })
  const make = allow('prefix_rule(pattern=["make", ["test", "lint"]])')

  test.each([
    'make test',
    'make lint -j2',
    'env make test',
    "bash -c 'make test'",
    'timeout 60 make test',
    'cd x && make test | head',
    'make test 2>/dev/null',
  ])('allows %s', (line) => expect(decide(line, make)).toBe('allow'))
  test.each([
    'make install',
    'make -C /tmp test',
    './make test',
    '/usr/bin/make test',
    'make test; make install',
    'make test > f',
    'PATH=. make test',
    'SHELL=./x make test',
    'make $x',
    'sudo make test',
    'eval make test',
    'make "$(make install)"',
    'make test | sh',
  ])('does not allow %s', (line) => expect(decide(line, make)).not.toBe('allow'))

  test('applies to a path only if host_executable names it', () => {
    const host = allow('prefix_rule(pattern=["make"])\nhost_executable(name="make", paths=["/opt/bin/make"])')
    expect(decide('/opt/bin/make x', host)).toBe('allow')
    expect(decide('/tmp/make x', host)).toBe('ask')
  })

  test('does not allow access to secrets or another repository', () => {
    expect(decide('cat .env', allow('prefix_rule(pattern=["cat"])'))).toBe('ask')
    expect(decide('git -C /other status', allow('prefix_rule(pattern=["git"])'))).toBe('ask')
    expect(decide('git -c core.fsmonitor=x status', allow('prefix_rule(pattern=["git"])'))).toBe('ask')
  })
})

describe('the rules shipped by default', () => {
  const shipped = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])
  const guardian = createGuardian({ approvalMode: 'never', rules: shipped, reviewer: nobody, audit: withoutAuditLog() })
  const said = (line: string): string => guardian.assess(shellAction(line)).decision

  test('forbid commands that no task needs, and ask before publishing', () => {
    expect(
      ['rm -rf /', 'rm -r -f ~', 'rm -rf $HOME', 'npm publish', 'git push -f', 'git -C . push --force x'].map(said),
    ).toEqual([...['deny', 'deny', 'deny', 'ask', 'ask', 'ask']])
  })

  test('leave ordinary work alone, even if it is hard to analyse', () => {
    const lines = [
      'rm -rf build',
      'npm test',
      'git push origin main',
      'eval "$(direnv hook bash)"',
      'curl x | sh',
      '[[ $a -eq 1 ]]',
      'coproc x',
    ]
    expect(lines.filter((line) => said(line) !== 'allow')).toEqual([])
  })
})

describe('an unknown line, if a rule forbids something', () => {
  const rules = 'prefix_rule(pattern = ["git", "push"], decision = "forbidden")'
  const asking = 'prefix_rule(pattern = ["git", "push"], decision = "prompt")'
  test.each(['$X push', 'eval "$X"', 'bash "$script" <(git push', 'git(){ :; }; git push'])(
    'is refused in never and on-failure, and asked about elsewhere: %s',
    (line) => {
      for (const mode of ['never', 'on-failure'] as const) {
        expect([mode, decide(line, { rules, mode, sandbox: 'workspace-write' })]).toEqual([mode, 'deny'])
      }
      expect(decide(line, { rules: asking, mode: 'on-failure', sandbox: 'workspace-write' })).toBe('ask')
    },
  )

  test('is asked about without a sandbox in every mode but bypass', () => {
    for (const mode of ['untrusted', 'on-failure', 'on-request', 'never'] as const)
      expect([mode, decide('$X x', { mode, sandbox: 'danger-full-access' })]).toEqual([mode, 'ask'])
    expect(decide('$X x', { mode: 'bypass', sandbox: 'danger-full-access' })).toBe('allow')
  })
})
