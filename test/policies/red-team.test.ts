import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decide } from './decisions.ts'

type Row = { readonly command: string; readonly kind: string }

const rows = readFileSync(new URL('../../fixtures/policies/red-team.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

test('no command that attackers derived from the guarantees is allowed in untrusted mode', () => {
  expect(rows.filter(({ command }) => decide(command) === 'allow')).toEqual([])
})

describe('similar harmless commands are not asked about', () => {
  test.each([
    'tar tf a.tar',
    'tar tvf a.tgz',
    'tar tfv a.tar',
    'tar ztf a.tgz',
    '[ -n "$GITHUB_TOKEN" ] && echo set',
    '[[ -z ${API_TOKEN:-} ]] && echo unset',
    'test -n "$X" -a -f y',
    '[[ $CI == true ]] && echo ci',
    '[ "$NODE_ENV" = production ]',
    'case $OSTYPE in linux*) echo linux ;; esac',
    'lsof -i :3000 -P -n',
    'head -c 16 /dev/urandom | base64',
    'od -N 4 -t u4 /dev/urandom',
    'cat src/secrets/shapes.ts',
    'cat src/*.json',
    'cat d/*.ts',
    "git diff HEAD -- '*.ts'",
    'git ls-files -o --exclude-standard | xargs grep x',
    'git config --get user.name',
    'git config user.name',
    'for f in src/*; do cat "$f"; done',
    'for f in src/*; do wc -l $f; done',
    'for i in 1 2 3; do sleep 1 & done; wait',
    'echo {1..20}',
    'ls $PWD/src',
    '[ -f "$CONFIG_FILE" ] && echo there',
    'cat [ab].ts',
    "awk '{ print $1,\\n  $2 }' f",
    'git diff HEAD~1',
    'cat $(pwd)/README.md',
    'git for-each-ref --sort=-committerdate refs/heads',
    'git branch --sort=-authordate -a',
    'git tag --sort=version:refname -l',
    'git tag -l --sort=-v:refname',
    'git shortlog -sn --group=author HEAD',
    "git shortlog -s --group='format:%an' HEAD",
    'git shortlog --group=trailer:co-authored-by HEAD',
    'cat /etc/os-release',
    'cat /etc/*release',
    'grep -n nameserver /etc/resolv.conf',
    'head -5 /etc/apt/sources.list.d/debian.sources',
    'tail -50 /var/log/nginx/error.log',
    'cat /var/log/dpkg.log.1',
    'cat ~/.bashrc ~/.profile',
    'cat ~/.cargo/registry/src/index/serde/Cargo.toml',
    'cat ~/notes/todo.md',
    'cat src/settings.php',
    'cat docs/passwords.md',
    'cat i18n/credentials.ts',
    'cat package.json.bak',
    'cat locales/password-reset.json',
    'cat schemas/credentials.schema.json',
    'cat k8s/external-secrets.yaml',
    'ls -la ~/.config/usql',
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
  })
})

describe('addresses of remotes, which may contain a password, are asked about unless a sandbox removes it', () => {
  test.each([
    'git remote -v',
    'git remote get-url origin',
    'git remote get-url --all --push origin',
    'git config --get remote.origin.url',
    'git config remote.origin.pushurl',
    'git config get submodule.a.url',
    'git config branch.main.remote',
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
    expect(decide(line, { sandbox: 'danger-full-access' })).toBe('ask')
    expect(decide(line, { sandbox: 'danger-full-access', mode: 'bypass' })).toBe('allow')
  })

  test('names of remotes are not asked about', () => {
    expect(decide('git remote', { sandbox: 'danger-full-access' })).toBe('allow')
  })
})

describe('a program that looks up or reveals data is asked about unless a sandbox blocks its server', () => {
  test.each([
    'lsof -i :3000',
    'lsof',
    'lsof -p 1',
    'lsof -itcp',
    'lsof -c node -i',
    'docker inspect web',
    'podman inspect c',
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
    expect(decide(line, { sandbox: 'danger-full-access' })).toBe('ask')
  })

  test.each([
    'lsof -ni :3000',
    'lsof -t -i:3000',
    'docker ps',
    'hostname',
    'hostname -s',
    'hostname -I',
    'ls net/x',
    'ls /net',
  ])('and what asks nothing is not: %s', (line) => {
    expect(decide(line, { sandbox: 'danger-full-access' })).toBe('allow')
  })
})

describe('numbers that some shells evaluate are literal, or the line is unknown', () => {
  test.each([
    `sh -c 'n=5; [ "$n" -gt 3 ] && echo y'`,
    `sh -c 'printf "%s %5d\n" a 12'`,
    `sh -c 'cd src || exit 1; ls'`,
    `bash -c 'n=$(wc -l < f); [ "$n" -gt 3 ] && echo y'`,
    `sh -c '[ "$a" = x ] || exit 2'`,
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
  })
})

describe('similar commands are not asked about', () => {
  test.each([
    ...[
      'tree -L 2',
      'file -b src/a.ts',
      'diff -u a.txt b.txt',
      'diff -r src lib',
      'du -sh *',
      'ls | xargs du -s',
      'zcat *.gz',
    ],
    ...[
      'yq .a.b config.yml',
      'yq .version package.yaml',
      'zstdcat logs/a.zst',
      'git config user.signingkey',
      'TZ=Europe/Berlin date',
    ],
    ...[`date -d 'TZ="America/New_York" now'`, 'cat ../dev/notes.md', 'cat ../proc/handler.ts', 'cat src/../README.md'],
    ...[
      'grep -r x ../lib',
      'grep -r x ~/.cargo/registry',
      'grep -rn x /usr/include',
      'cat config/app.env.example',
      'ls ../../dev',
    ],
  ])('%s', (line) => {
    expect(decide(line)).toBe('allow')
  })
})

test.each(['tput cols', 'tput setaf 1; echo x; tput sgr0'])(
  'a name from terminfo is not treated as a program: %s',
  (line) => {
    expect(decide(line)).toBe('allow')
  },
)

test('a key that git config reads is not followed by a value', () => {
  expect(decide('git config x.y --name-only')).toBe('ask')
  expect(decide('git config --name-only x.y')).toBe('allow')
})

describe('files outside the workspace that may contain credentials', () => {
  const paths = [
    '~/.some-tool/config',
    '/home/u/.config/new-tool/conf.yml',
    '/etc/new-daemon.conf',
    '/var/lib/new-daemon/state',
  ]

  test.each(paths)('%s is asked about, whoever reads it', (path) => {
    expect([`cat ${path}`, `grep -c x < ${path}`, `cd / && head -1 ${path}`].map((line) => decide(line))).toEqual([
      'ask',
      'ask',
      'ask',
    ])
  })

  test('also with dots in the path, and after a cd', () => {
    expect(decide('cat ../../../../../../etc/new-daemon.conf')).toBe('ask')
    expect(decide('cd ~/.some-tool; cat config')).toBe('ask')
  })
})
