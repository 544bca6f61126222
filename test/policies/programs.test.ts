import { describe, expect, test } from 'vitest'
import { analyseScript, checkCommand, defaultRules, loadRules } from '../../policies/index.ts'
import { decide } from './decisions.ts'

const isAsked = (line: string): void => expect([line, decide(line)]).toEqual([line, 'ask'])
const isAllowed = (line: string): void => expect([line, decide(line)]).toEqual([line, 'allow'])

describe('a slash that is a division in one awk and a regular expression in another makes a command unknown', () => {
  test.each([
    'awk \'BEGIN { if (1) /#/; print "touch q" | "sh" }\'',
    'awk \'{ if (1) /"/; print > "q"; /"/ }\' f',
    'gawk \'/[^]/"]/ { print "make" | "sh" } /"/\' f',
    'gawk 1 /inet/tcp/0/example.com/80',
    "awk '{ print > $1 }' f",
  ])('%j', isAsked)
  test.each([
    "awk -F: '{print $1}' /etc/passwd",
    "awk '/foo|bar/ {n++} END {print n / NR}' f",
    'awk \'$3 > 100 && $1 !~ /^#/ {print $2 "|" $3}\' f',
  ])('plain programs are: %j', isAllowed)
})

describe('brackets that two seds read differently make a command unknown', () => {
  test.each(["sed 's/[]/]/g;#/w q' f", "sed -n '/[^]/s,],x,;#/w q' f", "sed 's/[/]/x/' f"])('%j', isAsked)
  test.each(["sed -n '1,20p' f", "sed -E 's/[0-9]+(\\.[a-z]+)?/x/g; /^$/d' f", "sed 's/[ \\t]*$//' f"])('%j', isAllowed)
})

describe('jq shows its input and nothing else', () => {
  test.each([
    "jq -n '$ENV'",
    "jq -n '$ ENV'",
    "jq -n '$\nENV'",
    'jq -n \'"\\(env.HOME)"\'',
    "jq -n '# $\nenv'",
    "jq 'debug' f",
  ])('%j', isAsked)
  test.each([
    "jq '.scripts | keys' package.json",
    'jq -r \'.a[] | select(.b == "env") | "\\(.c): \\(.d | length)"\' f',
    "jq '{name, version, deps: (.dependencies // {} | keys)}' package.json",
  ])('%j', isAllowed)
})

describe('options are read as the program reads them', () => {
  test.each([
    "diffstat '$(touch q).gz'",
    'xxd -ps a b',
    'xxd -po a',
    "tree -Po '*' q",
    'tree -Lo 2 q',
    'ps -Cphp e',
    'ps e',
    'tar -tfHOST:x',
    'tar tfz example.com:a.tar',
    'tar --list --file=example.com:a.tar',
    'go version',
    'git config edit',
    "git log --format='%+G?'",
    "git log --format='%-GG'",
    'git log --pretty=mine',
    "git grep --untracked -e '' .env",
    'git -c core.hooksPath=cat status',
    "git -c alias.x='!touch q' x",
  ])('%j', isAsked)
  test.each([
    'ps aux',
    'tree -aL 2',
    'xxd -l 64 f',
    'tar -tzf a.tgz',
    'echo "--- x ---"',
    'bash -n x.sh',
    'docker ps -a',
  ])('%j', isAllowed)
})

describe('a cd in the line affects the commands after it', () => {
  test.each([
    'cd /etc && cat shadow',
    'cd /proc/self && cat environ',
    'cat /dev/fd/../environ',
    'cd .git && cat config',
    'cd ~ && grep -r token .',
    'cd ~/.config && cat gh/hosts.yml',
    'cd vendor && git status',
    'pushd sub && git log -1',
    'builtin cd /etc; head shadow',
  ])('%j', isAsked)
  test.each(['generate | cat /proc/self/fd/0', 'cat /proc/self/fd/3', 'cat /proc/self/fd/0/../../environ'])(
    '%j',
    isAsked,
  )
  test.each(['echo x | cat /proc/self/fd/0', 'cat /dev/stdin', 'cd src && cat index.ts', 'cd /repo && git status'])(
    '%j',
    isAllowed,
  )
})

const never = (line: string): string =>
  checkCommand(line, {
    approvalMode: 'never',
    sandbox: 'workspace-write',
    rules: loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }]),
  }).decision

describe('commands that lose much are refused in every spelling', () => {
  test.each([
    'git reset --har',
    'git checkout --forc HEAD',
    'git restore --staged --workt .',
    'git checkout-index -a -f',
    'git read-tree -u --reset HEAD',
    'git rm -rf .',
    "git -c alias.x='reset --hard' x",
    'git push --mirr',
    'git push --delet origin x',
    'find ./* -delete',
    'rm -rf */',
    'd=$(pwd); rm -rf "$d"',
    'git(){ :; }; touch x; command git reset --hard',
    'rm(){ :; }; touch x; command rm -rf -- ./*',
  ])('%j', (line) => expect([line, never(line)]).not.toEqual([line, 'allow']))

  test.each(['rm -rf $(pwd)/dist', 'cp .env.example .env', 'cat certs/ca.pem', 'CC=clang make'])(
    'what loses little runs: %j',
    (line) => expect([line, never(line)]).toEqual([line, 'allow']),
  )

  test('an alias that the line defines is judged as its command, also by rules', () => {
    expect(
      analyseScript('git -c alias.x=push x').commands.map(({ words }) => words.map(({ text }) => text)),
    ).toContainEqual(['git', 'push'])
  })
})

test.each(['PYTHONPATH=. pytest', 'PATH=$PWD/bin:$PATH cmd', 'export JAVA_HOME=/opt/jdk', 'frobnicate x'])(
  'code that nobody read runs without a sandbox too, as python x.py does, except in untrusted: %j',
  (line) => {
    const said = (approvalMode: 'never' | 'on-request' | 'untrusted') =>
      checkCommand(line, { approvalMode, sandbox: 'danger-full-access' }).decision
    expect([said('never'), said('on-request'), said('untrusted')]).toEqual(['allow', 'allow', 'ask'])
  },
)

test.each(['env', 'git -c core.editor=x status', 'trap \'rm -f "$t"\' EXIT', 'git -C packages/a status'])(
  'what shows variables or runs given text needs approval only without a sandbox: %j',
  (line) => {
    const said = (sandbox: 'workspace-write' | 'danger-full-access') =>
      checkCommand(line, { approvalMode: 'on-request', sandbox }).decision
    expect([said('workspace-write'), said('danger-full-access')]).toEqual(['allow', 'ask'])
  },
)
