import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeView } from '../../../engine/transaction/private-view.ts'
import { refreshView } from '../../../engine/transaction/refresh-view.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { lockedFolder } from './locked-folder.ts'
import { cmd, onOverlay, reportOf, whyNoOverlay } from './overlay-runs.ts'

const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_')

/** A repository with tracked files that look like secrets, and with secrets that git doesn't track. */
function withSecrets(): string {
  const cwd = repository({
    '.gitignore': '.env\nout/\nconfig/master.key\n',
    'config/app.json': '{}\n',
    'tests/server.key': 'tracked\n',
    'src/a.js': '1\n',
  })
  execFileSync('git', ['add', '-A'], { cwd })
  const files = {
    '.env': `TOKEN=${secret}\n`,
    'config/master.key': '0123456789abcdef0123456789abcdef\n',
    'deploy/notes.txt': `the token is ${secret}\n`,
    'secrets/db': `${secret}\n`,
    'out/bundle.js': `const x = '${secret}'\n`,
    'out/token.txt': `${secret}\n`,
    'src/new.js': 'const password = ask()\n',
  }
  for (const [path, text] of Object.entries(files)) {
    execFileSync('mkdir', ['-p', join(cwd, path, '..')])
    writeFileSync(join(cwd, path), text)
  }
  linkSync(join(cwd, '.env'), join(cwd, 'src/other-name.bin'))
  symlinkSync('.env', join(cwd, 'link'))
  return cwd
}

const hidden = ['.env', 'config/master.key', 'deploy/notes.txt', 'out/token.txt', 'secrets/db', 'src/other-name.bin']
const shown = ['.gitignore', 'config/app.json', 'tests/server.key', 'src/a.js', 'out/bundle.js', 'src/new.js']

/** Ways to get at what a file contains, or at all files. */
const ways = [
  'cat .env',
  'pr -t .env',
  'less .env',
  'gzip -c .env | gzip -dc',
  'find . -name .env -exec cat {} +',
  'cat $(echo .env)',
  'git diff --no-index /dev/null .env',
  'dd if=.env of=y; cat y',
  'ln -s .env x; cat x; cat link',
  'ln .env hard; cat hard',
  '. ./.env; echo $TOKEN',
  'touch t; grep -r ghp_ --exclude-dir=.git .',
  'cat .e*',
  'cat .[e]nv',
  'head -c 99 .env',
  'tail -n 1 .env',
  'sed "" .env',
  'awk 1 .env',
  'tac .env',
  'od -c .env',
  'base64 .env | base64 -d',
  'xxd .env',
  'strings .env',
  'sort .env; uniq .env; nl .env; cut -c 1- .env',
  'while read -r l; do echo "$l"; done < .env',
  'mapfile -t a < .env; echo "${a[@]}"',
  'cp .env copy; cat copy',
  'mv .env moved; cat moved',
  'tar cf - . --exclude .git | tar xOf - | grep ghp_',
  'git stash -u; git stash show -p --include-untracked',
  'git add -Af; git diff --cached',
  'git hash-object -w .env | xargs git cat-file -p',
  "node -e \"console.log(require('fs').readFileSync('.env', 'utf8'))\"",
  'cat "$PWD"/.env /proc/self/cwd/.env /proc/$$/root"$PWD"/.env',
  'rsync -a ./ r/; cat r/.env',
  'cat src/other-name.bin deploy/notes.txt out/token.txt secrets/db',
]

/** Tries these ways one after the other, each in the tree as it was. */
function script(commands: readonly string[]): string {
  const each = commands.map((one) => `(${one}) < /dev/null 2>&1; git reset -q --hard; git clean -qfd -e out`)
  return [...each, 'true'].join('\n')
}

describe.skipIf(needsBubblewrap())('files with secrets that git does not track', () => {
  test.each(whyNoOverlay() === undefined ? ['copy', 'overlay'] : ['copy'])(
    'are in no %s, land nothing, and are named',
    async (how) => {
      const cwd = withSecrets()
      const steps = [
        cmd(`ls -A ${[...shown, ...hidden].join(' ')}`),
        ...[0, 1, 2].map((part) => cmd(script(ways.filter((_, index) => index % 3 === part)))),
        cmd(
          'echo mine > .env; mkdir -p secrets/db; echo x > secrets/db/x; rm -rf config deploy; echo done > result.txt',
        ),
        [say('done')],
      ]
      const run = await onOverlay(cwd, steps, { how })
      // The files that git tracks, and what is built in an ignored directory, may say everything.
      const out = run.requests
        .map((each) => JSON.stringify(each))
        .join('')
        .split(`const x = '${secret}'`)
        .join('')
      expect(out).not.toContain(secret)
      expect(out).not.toContain('0123456789abcdef')
      const failed = JSON.stringify(run.requests.at(1))
      expect(failed).toContain('not shown: .env')
      expect(failed).toContain('(--allow-read .env)')
      const config = run.events.find((event) => event.type === 'thread.started')?.config
      expect(config?.not_shown?.toSorted()).toEqual(hidden.map((path) => join(cwd, path)).toSorted())
      expect(readFileSync(join(cwd, '.env'), 'utf8')).toContain(secret)
      for (const path of hidden) expect(existsSync(join(cwd, path))).toBe(true)
      expect(readFileSync(join(cwd, 'result.txt'), 'utf8')).toBe('done\n')
      expect(existsSync(join(cwd, 'config/app.json'))).toBe(false)
      expect(reportOf(run)).toMatchObject({ outcome: 'landed' })
      expect(JSON.stringify(reportOf(run))).toContain('was not shown to the run')
    },
  )

  test.each([['-s', 'read-only'], ['--in-place']])('are not shown without a view either (%s)', async (...args) => {
    const cwd = withSecrets()
    symlinkSync('../src/a.js', join(cwd, 'deploy/master.key'))
    const all =
      'cat src/a.js; grep -r ghp_ --exclude-dir=.git .; tar cf - . --exclude .git | tar xOf - | grep -a ghp_; false'
    const run = await exec((index) => [cmd(all)][index] ?? [say('done')], ['--json', ...args, 'x'], { cwd })
    const result = JSON.stringify(run.requests.at(1)).split(`const x = '${secret}'`).join('')
    expect(result).not.toContain(secret)
    expect(result).not.toContain('0123456789abcdef')
    expect(result).toContain('not shown: .env')
    expect(run.events.some((event) => JSON.stringify(event).includes('"aggregated_output":"1\\n'))).toBe(true)
    const config = run.events.find((event) => event.type === 'thread.started')?.config
    expect(config?.not_shown?.toSorted()).toEqual(hidden.map((path) => join(cwd, path)).toSorted())
    expect(readFileSync(join(cwd, '.env'), 'utf8')).toContain(secret)
    const showing = ['--json', ...args, '--allow-read', 'deploy', 'x']
    const allowed = await exec((index) => [cmd('cat deploy/*')][index] ?? [say('done')], showing, { cwd })
    expect(JSON.stringify(allowed.requests.at(1))).toContain(secret)
  })

  test.each([[], ['--in-place'], ['-s', 'read-only']])('are no instructions for the model (%s)', async (...args) => {
    const cwd = withSecrets()
    const tracked = { 'AGENTS.md': 'Hello\n@deploy/notes.txt\n@own.md\n', 'CLAUDE.md': 'Hi\n@deploy/notes.md\n' }
    for (const [path, text] of Object.entries(tracked)) writeFileSync(join(cwd, path), text)
    execFileSync('git', ['add', ...Object.keys(tracked)], { cwd })
    writeFileSync(join(cwd, 'deploy/notes.md'), `${secret}\n`)
    writeFileSync(join(cwd, 'own.md'), 'nothing secret\n')
    const run = await exec(() => [say('done')], ['--json', ...args, 'x'], { cwd })
    const asked = JSON.stringify(run.requests)
    expect(asked).not.toContain(secret)
    expect(asked).toContain('nothing secret')
    expect(JSON.stringify(run.events)).toContain("it holds a secret and git doesn't track it")
  })

  test.each(whyNoOverlay() === undefined ? ['copy', 'overlay'] : ['copy'])(
    'are in a view (%s) that is to show them',
    async (how) => {
      const cwd = withSecrets()
      const args = ['--allow-read', '.env', '--allow-read', 'secrets']
      const run = await onOverlay(cwd, [cmd('cat .env secrets/db; cat config/master.key')], { how, args })
      const answer = JSON.stringify(run.requests.at(-1))
      expect(answer.split(secret)).toHaveLength(3)
      expect(answer).toContain('No such file')
    },
  )
})

test('a view that is brought up to date still leaves them out, also those that are new', async () => {
  const cwd = withSecrets()
  const view = await makeView(lockedFolder(), [cwd], 'copy', '')
  const source = view.views[0]?.source ?? ''
  const manifests = view.manifests().map((each) => new Map(each))
  writeFileSync(join(cwd, '.env'), `TOKEN=other-${secret}\n`)
  writeFileSync(join(cwd, 'src/late.txt'), secret)
  writeFileSync(join(cwd, 'src/late.js'), '2\n')
  rmSync(join(cwd, 'secrets'), { recursive: true })
  await refreshView(view, manifests, [])
  expect(readdirSync(source).toSorted()).toEqual(
    ['.git', '.gitignore', 'config', 'deploy', 'link', 'out', 'src', 'tests'].toSorted(),
  )
  expect(readdirSync(join(source, 'src')).toSorted()).toEqual(['a.js', 'late.js', 'new.js'])
})

test('a directory that holds one is not replaced, and everything else lands', async () => {
  const cwd = withSecrets()
  execFileSync('sh', ['-c', 'mkdir pipes; mkfifo pipes/p'], { cwd })
  const script = 'rm -rf config secrets pipes; echo x | tee config > pipes; ln -s src secrets; echo done > result.txt'
  const run = await onOverlay(cwd, [cmd(script)], { how: 'copy' })
  const { outcome, left_out: left } = reportOf(run) ?? {}
  expect(outcome).toBe('landed')
  expect(left?.map(({ path }) => path).toSorted()).toEqual(
    ['config', 'pipes', 'secrets'].map((name) => join(cwd, name)),
  )
  expect(existsSync(join(cwd, 'config/master.key'))).toBe(true)
  expect(existsSync(join(cwd, 'secrets/db'))).toBe(true)
  expect(existsSync(join(cwd, 'config/app.json'))).toBe(false)
  expect(existsSync(join(cwd, 'pipes/p'))).toBe(true)
  expect(existsSync(join(cwd, 'result.txt'))).toBe(true)
})

test('without a repository, all files count as untracked', async () => {
  const cwd = tempDir({ 'a.txt': 'a\n', '.env': secret, 'b.txt': secret, 'node_modules/x/c.js': secret })
  const view = await makeView(lockedFolder(), [cwd], 'copy', '')
  expect(readdirSync(view.views[0]?.source ?? '').toSorted()).toEqual(['a.txt', 'node_modules'])
  expect(view.state.not_shown?.toSorted()).toEqual([join(cwd, '.env'), join(cwd, 'b.txt')])
})

test('the files of repositories in the tree are judged by their own repository', async () => {
  const cwd = withSecrets()
  execFileSync('sh', [
    '-c',
    `cd "$0" && git init -q inner && cd inner && echo t > a.pem && git add a.pem && git -c user.name=x -c user.email=x@x commit -qm x && echo ${secret} > b.pem`,
    cwd,
  ])
  const view = await makeView(lockedFolder(), [cwd], 'copy', '')
  expect(readdirSync(join(view.views[0]?.source ?? '', 'inner')).toSorted()).toEqual(['.git', 'a.pem'])
})
