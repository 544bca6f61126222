import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { analyseCommand, checkCommand, createGuardian, nobody, withoutAuditLog } from '../../policies/index.ts'
import { loadRules, shippedRules, type CheckOptions } from '../../policies/index.ts'

const cwd = '/home/u/w'
const rules = loadRules([shippedRules()])
const decide = (line: string, more: Partial<CheckOptions> = {}): string =>
  checkCommand(line, { approvalMode: 'never', sandbox: 'danger-full-access', rules, cwd, ...more }).decision

describe('files of the workspace are the same however they are named', () => {
  test.each([
    'rm /home/u/w/a.py',
    'rm -rf /home/u/w/build',
    'cd src && rm ../a.py',
    'cd /home/u/w && rm -rf build',
    'cd /home/u/w/src && rm -rf ../build',
    'cd src || exit 1; rm -rf build',
    'cd src && make && cd - && rm -rf build',
    'if cd src; then rm -rf ../a; else rm -rf b; fi',
    'for d in a b; do (cd $d; rm -rf build); done',
    'pushd src && make && popd && rm -rf build',
    'cd src && rm -rf *',
    '(cd ..; ls); rm -rf build',
    'cd /etc | rm -f a',
    "bash -c 'cd /etc'; rm -f a",
    'rm -f .coverage.* .make-*',
    'rm -rf .pytest_cache*',
    't=$(mktemp -d); rm -rf "$t"',
    'rm -rf "$TMP"',
    'rm -f ${DESTDIR}${datadir}/completions/gh',
    'chown -R builder src',
    'git checkout "$TAG"',
    'git checkout $(git describe --tags)',
  ])('%j', (line) => expect(decide(line)).toBe('allow'))
})

describe('a folder that the line changes to is followed', () => {
  test.each([
    'cd ~ && rm -rf Documents',
    'cd / && rm -rf usr',
    '(cd ~; find Documents -delete)',
    'cd /etc; rm -f passwd',
    'cd /dev; dd if=a of=sda',
    'cd .. && rm -rf w',
    'pushd ..; rm -rf w',
    '(cd ..; rm -rf w)',
    'cd -; rm -rf src',
    'popd +1; rm -rf src',
    'cd src && rm -rf ..',
    'cd "$DIR" && rm -rf build',
    'f() { cd /etc; }; f; rm -f passwd',
    'f() { rm -f passwd; }; cd /etc; f',
    'eval "cd /etc"; rm -f passwd',
    'command cd /etc; rm -f passwd',
    'HOME=/etc; cd; rm -f passwd',
    'CDPATH=/; cd etc; rm -f passwd',
    "bash -c 'cd /etc; rm -f passwd'",
    '! cd /etc; rm -f passwd',
    'while true; do cd /etc; break; cd /home/u/w || exit; done; rm -f passwd',
    'for i in 1 2; do rm -f passwd; cd /etc; done',
    'case $x in a) cd /etc;; esac; rm -f passwd',
    '{ cd /etc; }; rm -f passwd',
    'true && cd /etc; rm -f passwd',
    'cd /nowhere || cd /etc; rm -f passwd',
    'cd /etc > log; rm -f passwd',
    'mv ~/Documents /tmp/x',
    'rm -rf /home/u/w',
    'rm -rf /home/u/wx',
  ])('and deleting needs approval there: %j', (line) => expect(decide(line)).toBe('ask'))

  test.each([
    'OLDPWD=/etc; cd -; head -1 shadow',
    'read OLDPWD <<< /etc; cd -; head -1 shadow',
    'for OLDPWD in /etc; do cd -; head -1 shadow; done',
    'OLDPWD=/etc; (cd -P -; head -1 shadow)',
    'OLDPWD=.git; cd -; cat config',
    'cd $(echo /etc) && head -1 shadow',
    'cd "$(printf /etc)"; cat shadow',
    'HOME=/etc; cat ~/shadow',
    'cd /etc && cat $(find . -name "shad*")',
    'pushd /etc; popd; cat shadow',
  ])('and reading needs approval if it may be anywhere: %j', (line) => {
    expect(decide(line, { approvalMode: 'untrusted' })).toBe('ask')
    expect(decide(line)).toBe('ask')
  })

  test.each([
    'cd src && cat a.py',
    'cd /home/u/w/src; grep -r x .',
    'cd src; cd ..; cat a.py',
    'pushd src; popd; cat a',
  ])('and reading in the workspace needs none: %j', (line) =>
    expect(decide(line, { approvalMode: 'untrusted' })).toBe('allow'),
  )

  test('and the home is the workspace if both are the same folder', () => {
    const home = homedir()
    expect(decide(`cd ~ && rm -rf build`, { cwd: home })).toBe('allow')
    expect(decide(`rm -rf ~/w/build`, { cwd: `${home}/w` })).toBe('allow')
  })

  test('and each command says where it may run', () => {
    const { commands } = analyseCommand(['bash', '-c', 'cd src && a; cd - && b; cd "$X"; c'], cwd)
    const folders = (program: string): unknown => commands.find(({ words }) => words[0]?.text === program)?.folders
    expect([folders('a'), folders('c')]).toEqual([[`${cwd}/src`], [undefined, cwd, `${cwd}/src`]])
  })
})

describe('what names everything', () => {
  test.each([
    'd=*; rm -rf $d',
    'ls | while read d; do rm -rf "$d"; done',
    'for f in *; do > "$f"; done',
    'for f in *; do > $f; done',
    'truncate -s 0 *',
    'mv * /tmp/x',
    'rm -rf .*',
    'cd .git && rm -rf refs',
    'ls -d */ | xargs rm -rf',
    'rm -rf ${X:-.}',
    'xargs rm -rf < list',
    'cp /dev/null *',
    'rm -rf .[!.]*',
    'rm -rf *.*',
    'rm -rf [a-z]*',
    'rm -rf */*',
    'git rm -f $(git ls-files)',
    'T=.; git checkout "$T"',
    'git checkout $(echo .)',
    'git restore --pathspec-from-file=l',
  ])('needs approval: %j', (line) => expect(decide(line)).toBe('ask'))
})

describe('in a run on a private view', () => {
  const onView = { sandbox: 'workspace-write', onView: true } as const
  const losses = [
    'rm -rf build .',
    'git reset --hard',
    'git stash drop',
    'git checkout .',
    'git clean -fdx',
    'cd .. && rm -rf w',
  ]
  test.each(losses)('work may be lost, because the landing shows it first: %j', (line) => {
    for (const approvalMode of ['never', 'on-request'] as const) {
      expect(decide(line, { ...onView, approvalMode })).toBe('allow')
      expect(decide(line, { sandbox: 'workspace-write', approvalMode })).toBe('ask')
      expect(decide(line, { approvalMode })).toBe('ask')
    }
    expect(decide(line, { ...onView, approvalMode: 'untrusted' })).toBe('ask')
  })

  test.each(['git push -f', 'git push origin :main', 'aws s3 rb s3://x', 'docker volume rm x', 'rails db:drop'])(
    'what is elsewhere may not: %j',
    (line) => expect(decide(line, onView)).toBe('ask'),
  )

  test('what a command of the run deletes is judged from the workspace of the run, and again in a replay', async () => {
    const records: unknown[] = []
    const audit = { ...withoutAuditLog(), append: (entry: unknown) => void records.push(entry) }
    const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit, onView: true })
    const where = { cwd: `${cwd}/src`, workspace: cwd, sandbox: 'workspace-write' } as const
    const action = { type: 'exec', argv: ['rm', '-rf', '../a', '..'], ...where } as const
    expect((await guardian.review(action)).verdict.decision).toBe('allow')
    expect(records).toMatchObject([{ action: { workspace: cwd }, basis: { onView: true } }])
  })
})

describe('in a sandbox that shows only what was named', () => {
  const hides = (path: string): boolean => /^\/home\/u\/(?!shown|w)/.test(path)
  const conceals = (paths: readonly string[]): readonly { path: string; place: string }[] =>
    paths.filter((path) => path.includes('/.aws')).map((path) => ({ path, place: '/home/u/.aws' }))
  const records: unknown[] = []
  const audit = { ...withoutAuditLog(), append: (entry: unknown) => void records.push(entry) }
  const decideIn = (line: string, over: object = {}): string => {
    const guardian = createGuardian({ approvalMode: 'untrusted', reviewer: nobody, audit, hides, conceals })
    const action = { type: 'exec', argv: ['bash', '-c', line], cwd, sandbox: 'workspace-write', ...over } as const
    return guardian.assess(action).decision
  }

  test.each([
    'cat /home/u/.aws/credentials',
    'cat /home/u/.unheard-of /home/u/id_rsa',
    'grep -r x /home/u/.config',
    'cat /home/u/.ssh/id_r*',
    'cd /home/u/a && cat .netrc',
  ])('a command that finds nothing there needs no approval: %j', (line) => {
    expect(decideIn(line)).toBe('allow')
    expect(decideIn(line, { sandbox: 'danger-full-access' })).toBe('ask')
    expect(decideIn(line, { escalation: { justification: 'x' } })).toBe('ask')
  })

  test.each([
    'cat /home/u/shown/.aws/credentials',
    'cat /home/v/.netrc',
    'cat .env',
    'cat /home/u/.aws/x /proc/1/environ',
    'cd $X && cat .netrc',
    'cat $X/.netrc',
  ])('one that may find something does: %j', (line) => expect(decideIn(line)).toBe('ask'))

  test('the log says where nothing was shown, so that a replay judges in the same way', async () => {
    const guardian = createGuardian({ approvalMode: 'untrusted', reviewer: nobody, audit, hides, conceals })
    const action = { type: 'exec', argv: ['cat', '/home/u/.netrc'], cwd, sandbox: 'workspace-write' } as const
    expect((await guardian.review(action)).verdict.decision).toBe('allow')
    expect(records).toMatchObject([{ basis: { hides: [['/home/u/.netrc', 'not shown']] } }])
  })
})

test.each(['sudo apt-get install x', 'doas id', 'su -c id', 'run0 id'])(
  'in the sandbox, a request for privileges is answered with what to do instead: %j',
  (line) => {
    const said = checkCommand(line, { approvalMode: 'on-request', sandbox: 'workspace-write', cwd })
    expect(said).toMatchObject({ decision: 'deny', decidedBy: 'analysis' })
    expect(said.reason).toContain('Run the command without them')
  },
)
