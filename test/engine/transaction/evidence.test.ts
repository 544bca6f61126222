import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { verifyEvidence } from '../../../engine/cli/evidence-command.ts'
import { differencesIn } from '../../../engine/transaction/evidence/check-tree.ts'
import { openEnvelope, sealStatement } from '../../../engine/transaction/evidence/envelope.ts'
import { keyId, readPrivateKey, readPublicKey } from '../../../engine/transaction/evidence/keys.ts'
import { predicateType, statementType, type Statement } from '../../../engine/transaction/evidence/statement.ts'
import { nameFence } from '../../../sandbox/second-fence.ts'
import { agent } from '../../support/agent.ts'
import { landlockHere } from '../../support/landlock.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const hash = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

function statementOf(patch: string, files: Statement['predicate']['trees'][number]['files']): Statement {
  return {
    _type: statementType,
    subject: [{ name: 'changes.patch', digest: { sha256: hash(patch) } }],
    predicateType,
    predicate: {
      ...{ version: '0', session: 's', at: '2026-11-22T00:00:00.000Z', model: 'm', result: 'done', exit_code: 0 },
      ...{ cost_usd: null, audit_head: null, verified: [], record: null, decided_by: [] },
      transaction: { strategy: 'copy', state: 'landed' },
      trees: [{ files, unchanged_files: [], left_out: [] }],
    },
  }
}

const makers: readonly (readonly [string, () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject }])[] =
  [
    ['Ed25519', () => generateKeyPairSync('ed25519')],
    ['ECDSA over P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ]

describe('an envelope', () => {
  test.each(makers)('signed with a %s key is verified only with that key', (_, make) => {
    const { privateKey, publicKey } = make()
    const given = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const sealed = sealStatement(statementOf('p', []), readPrivateKey(given, 'key'))
    const open = readPublicKey(publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'key.pub')
    expect(openEnvelope(sealed, [open])).toMatchObject({ type: 'whole', keyId: keyId(publicKey), isTrusted: true })
    const other = generateKeyPairSync('ed25519').publicKey
    expect(openEnvelope(sealed, [other])).toMatchObject({
      type: 'broken',
      why: expect.stringContaining('not one of the given keys'),
    })
    // This statement is signed by somebody else.
    const forged = sealStatement(statementOf('q', []), generateKeyPairSync('ed25519').privateKey)
    expect(openEnvelope(forged, [open]).type).toBe('broken')
  })

  test.each([
    ['ed25519', ['-t', 'ed25519']],
    ['ecdsa', ['-t', 'ecdsa', '-b', '256']],
    ['ecdsa of 521 bits', ['-t', 'ecdsa', '-b', '521']],
    ['rsa', ['-t', 'rsa', '-b', '2048']],
  ])('is signed by a key of ssh-keygen: %s', (_, words) => {
    const file = join(tempDir(), 'key')
    execFileSync('ssh-keygen', ['-q', ...words, '-N', '', '-C', 'somebody', '-f', file])
    const sealed = sealStatement(statementOf('p', []), readPrivateKey(readFileSync(file, 'utf8'), file))
    const open = readPublicKey(readFileSync(`${file}.pub`, 'utf8'), `${file}.pub`)
    expect(openEnvelope(sealed, [open])).toMatchObject({ type: 'whole', isTrusted: true })
  })

  test('is not signed with an unusable key: one with a passphrase, a short one, none', () => {
    const file = join(tempDir(), 'key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', file])
    expect(() => readPrivateKey(readFileSync(file, 'utf8'), file)).toThrow(
      /key: the key has a passphrase.*ssh-keygen -p/,
    )
    const { privateKey } = generateKeyPairSync('ed25519')
    const closed = privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString()
    expect(() => readPrivateKey(closed, 'key')).toThrow(/has a passphrase.*openssl/)
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
    expect(() => readPrivateKey(short.export({ type: 'pkcs8', format: 'pem' }).toString(), 'key')).toThrow(/too short/)
    for (const text of ['', 'hello', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n'])
      expect(() => readPrivateKey(text, 'key')).toThrow(/^key: no/)
    for (const text of ['', 'ssh-ed25519 AAAA', 'ssh-dss AAAAB3NzaC1kc3MA'])
      expect(() => readPublicKey(text, 'k')).toThrow(/^k: /)
  })
})

test('a tree differs if a file is added, missing, of another kind, or executable', () => {
  const tree = tempDir({ 'a.txt': 'a', 'there.txt': 'x', 'd/x': 'x' })
  execFileSync('ln', ['-s', 'a.txt', 'link'], { cwd: tree })
  const file = { type: 'file', sha256: hash('a'), mode: 0o644 } as const
  expect(
    differencesIn(tree, [
      { path: 'a.txt', ...file },
      { path: 'link', type: 'symlink', target: 'a.txt' },
      { path: 'd', type: 'directory' },
      { path: 'gone/deep', type: 'absent' },
    ]),
  ).toEqual([])
  expect(
    differencesIn(tree, [
      { path: 'a.txt', ...file, mode: 0o755 },
      { path: 'there.txt', type: 'absent' },
      { path: 'link', ...file },
      { path: 'a.txt/below', ...file },
      { path: 'd', type: 'symlink', target: 'a.txt' },
      { path: 'a.txt', type: 'directory' },
    ]),
  ).toHaveLength(6)
})

test('a tree differs if a file runs with the rights of somebody else, or if every user may write to it', () => {
  const tree = tempDir({ 'a.txt': 'a', 'd/x': 'x' })
  const file = { path: 'a.txt', type: 'file', sha256: hash('a') } as const
  const directory = { path: 'd', type: 'directory' } as const
  const found = (mode: number, stated: number): readonly string[] => {
    chmodSync(join(tree, 'a.txt'), mode)
    return differencesIn(tree, [{ ...file, mode: stated }])
  }
  for (const mode of [0o4755, 0o2755, 0o6755]) {
    expect(found(mode, 0o755)).toEqual([expect.stringContaining('set-user-id')])
    expect(found(mode, mode)).toEqual([])
    // A checkout by git has none of these bits.
    expect(found(0o755, mode)).toEqual([])
  }
  expect(found(0o666, 0o644)).toEqual(['a.txt: every user may write to it'])
  expect([found(0o666, 0o666), found(0o664, 0o644), found(0o600, 0o644), found(0o644, 0o666)]).toEqual([[], [], [], []])
  chmodSync(join(tree, 'd'), 0o2777)
  expect(differencesIn(tree, [{ ...directory, mode: 0o755 }])).toEqual(['d: every user may write to it'])
  expect(differencesIn(tree, [directory, { ...directory, mode: 0o777 }])).toEqual([])
})

test('a tree differs if a directory is now a link, even to the same content', () => {
  const tree = tempDir({ 'elsewhere/x': 'x' })
  execFileSync('ln', ['-s', 'elsewhere', 'd'], { cwd: tree })
  const link = { path: 'd', type: 'symlink', target: 'elsewhere' } as const
  expect(differencesIn(tree, [{ path: 'd/x', type: 'file', sha256: hash('x'), mode: 0o644 }])).toEqual([
    'd/x: it does not exist',
  ])
  // The run replaced the directory `d` with a link, so the file `d/x` no longer exists.
  expect(differencesIn(tree, [link, { path: 'd/x', type: 'absent' }])).toEqual([])
  expect(differencesIn(join(tree, 'd'), [{ path: '../elsewhere/x', type: 'absent' }])).toEqual([
    '../elsewhere/x: it is outside the tree',
  ])
})

describe.skipIf(needsBubblewrap())('agent evidence', () => {
  test('states what a run changed, from which commit, under which rules, and how it was verified', async () => {
    const others = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`other/${index}.ts`, 'o\n']))
    const cwd = repository({ 'a.txt': 'a\n', 'gone.txt': 'g\n', ...others })
    execFileSync('sh', ['-c', 'git add . && git -c user.name=x -c user.email=x@x commit -qm first'], { cwd })
    const base = execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' }).trim()
    const rules = `prefix_rule(pattern = ["git", "push"], decision = "forbidden")\n`
    const home = tempDir({ '.config/portcullis/rules/team.rules': rules })
    const key = join(tempDir(), 'key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await exec(
      [[call('exec_command', { cmd: 'echo b > a.txt; rm gone.txt; ln -s a.txt link' })], [say('done')]],
      ['--verify', 'test -e link', 'x'],
      { cwd, home },
    )
    const ask = (...words: readonly string[]) => agent(['evidence', ...words], { cwd, home })
    const [file, patch] = [join(tempDir(), 'e.json'), join(tempDir(), 'x.patch')]
    expect((await ask('--last', '-o', file, '--key', key)).code).toBe(0)
    await agent(['changes', '--last', '--patch', patch], { cwd, home })
    const sealed = JSON.parse(readFileSync(file, 'utf8')) as { readonly payload: string }
    expect(JSON.parse(Buffer.from(sealed.payload, 'base64').toString())).toMatchObject({
      subject: [{ digest: { sha256: hash(readFileSync(patch)) } }, { digest: { gitCommit: base } }],
      predicate: {
        model: 'gpt-5.5',
        result: 'done',
        exit_code: 0,
        audit_head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
        verified: [{ command: 'test -e link', passed: true }],
        decided_by: [
          {
            approval_policy: 'never',
            sandbox: {
              mode: 'workspace-write',
              network: 'off',
              fence: nameFence(landlockHere() < 2 ? 0 : landlockHere()),
            },
            rules: expect.arrayContaining([expect.objectContaining({ source: expect.stringContaining('team.rules') })]),
          },
        ],
        trees: [
          {
            files: [
              { path: 'a.txt', type: 'file', sha256: hash('b\n') },
              { path: 'gone.txt', type: 'absent' },
              { path: 'link', type: 'symlink', target: 'a.txt' },
            ],
          },
        ],
      },
    })
    const good = await ask('verify', file, '--tree', cwd, '--patch', patch, '--public-key', `${key}.pub`)
    expect([good.code, good.stdout]).toEqual([
      0,
      expect.stringContaining(
        'confirmed: the patch, 3 paths that the run changed, 25 source files that the run did not change',
      ),
    ])
    expect((await ask('verify', file, '--tree', cwd)).stdout).toContain('a key that was not checked')
    writeFileSync(join(cwd, 'a.txt'), 'c\n')
    const bad = await ask('verify', file, '--tree', cwd)
    expect([bad.code, bad.stdout]).toEqual([1, 'a.txt: its content differs\n'])
    writeFileSync(join(cwd, 'other', '7.ts'), 'p\n')
    const both = await ask('verify', file, '--tree', cwd)
    expect(both.stdout).toBe('a.txt: its content differs\nother/7.ts: its content differs\n')
    rmSync(join(cwd, 'other'), { recursive: true })
    expect((await ask('verify', file, '--tree', cwd)).stdout).toMatch(
      /^a\.txt: .*\nother\/0\.ts: it does not exist\n(?:other.*\n){18}and 6 more\n$/,
    )
    expect((await ask('verify', join(cwd, 'none'), '--tree', cwd)).code).toBe(2)
    expect((await ask('--last', '-o', file)).stderr).toContain('choose a signing key: --key FILE')
  })

  test('detects each of 1,000 changes of one byte in the statement, the patch and all source files of the tree', async () => {
    const files = { 'a.txt': 'a\n'.repeat(50), 'src/b.ts': 'b\n'.repeat(90), 'src/deep/c.ts': 'c', 'run.sh': 'exit\n' }
    const cwd = repository({ ...files, '.gitignore': 'out/\n', 'out/built': 'x' })
    const bytes = Buffer.from(Array.from({ length: 700 }, (_, index) => (index * 31) % 251))
    writeFileSync(join(cwd, 'd.bin'), bytes, { mode: 0o755 })
    execFileSync('sh', ['-c', 'git add . && git -c user.name=x -c user.email=x@x commit -qm first'], { cwd })
    // Neither of these contents is committed: the user changed one file before the run, and the other file is untracked.
    writeFileSync(join(cwd, 'run.sh'), 'echo\n')
    writeFileSync(join(cwd, 'src', 'new.ts'), 'new\n')
    const { home, key } = { home: tempDir(), key: join(tempDir(), 'key') }
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await exec([[call('exec_command', { cmd: 'echo z >> a.txt' })], [say('done')]], ['x'], {
      cwd,
      home,
    })
    const [file, patch] = [join(tempDir(), 'e.json'), join(tempDir(), 'x.patch')]
    await agent(['evidence', '--last', '-o', file, '--key', key], { cwd, home })
    await agent(['changes', '--last', '--patch', patch], { cwd, home })
    const silent = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    onTestFinished(() => silent.mockRestore())
    const check = (): number => verifyEvidence(file, { tree: [cwd], patch })
    expect(check()).toBe(0)
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd, encoding: 'utf8' })
    const sources = listed.trim().split('\n')
    expect(sources).toHaveLength(7)
    const [missed, drawn]: [string[], Set<string>] = [[], new Set()]
    let seed = 7
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    for (let number = 0; number < 1000; number++) {
      const source = join(cwd, sources[random(sources.length)] ?? '')
      const target = [file, patch, source][number % 3] ?? file
      drawn.add(target)
      const whole = readFileSync(target)
      const [at, by] = [random(whole.length), 1 + random(255)]
      const changed = Buffer.from(whole)
      changed[at] = ((whole[at] ?? 0) + by) % 256
      writeFileSync(target, changed)
      if (check() === 0) missed.push(`${target}: byte ${at} by ${by}`)
      writeFileSync(target, whole)
    }
    expect(missed).toEqual([])
    expect(drawn.size).toBe(sources.length + 2)
    // The evidence covers neither ignored files nor files that were created later.
    writeFileSync(join(cwd, 'out', 'built'), 'y')
    writeFileSync(join(cwd, 'later.txt'), 'x')
    expect(check()).toBe(0)
  })

  test('contains a hash of the policy that is the same in every workspace and home, and that a gate can require', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const key = join(tempDir(), 'key.pem')
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const evidenceOf = async (...options: readonly string[]) => {
      const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
      await exec([[call('exec_command', { cmd: 'echo b > a.txt' })], [say('done')]], [...options, 'x'], { cwd, home })
      const file = join(tempDir(), 'e.json')
      const made = await agent(['evidence', '--last', '-o', file, '--key', key], { cwd, home })
      return { file, policy: /policy ([0-9a-f]{64})/.exec(made.stderr)?.[1] ?? '' }
    }
    const [one, other] = [await evidenceOf(), await evidenceOf()]
    expect(one.policy).toMatch(/^[0-9a-f]{64}$/)
    expect(other.policy).toBe(one.policy)
    const wider = await evidenceOf('-c', 'sandbox_workspace_write.network_access=true')
    expect(wider.policy).not.toBe(one.policy)
    const require = (file: string, ...facts: readonly string[]) =>
      agent(['evidence', 'verify', file, '--require', facts.join(',')], { cwd: tempDir(), home: tempDir() })
    const good = await require(other.file, `policy=${one.policy}`)
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining(`\npolicy ${one.policy}\n`)])
    const bad = await require(wider.file, `policy=${one.policy}`)
    expect([bad.code, bad.stdout]).toEqual([1, `not policy=${one.policy}: a run's policy was ${wider.policy}\n`])
    expect((await require(one.file, 'verified', `policy=${one.policy}`)).code).toBe(1)
    expect((await require(one.file, 'policy=x')).code).toBe(2)
  })

  test('says that the changes were reverted', async () => {
    const [cwd, home, key] = [repository({ 'a.txt': 'a\n' }), tempDir(), join(tempDir(), 'key')]
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const run = [[call('exec_command', { cmd: 'echo z > a.txt' })], [say('done')]]
    await exec(run, ['x'], { cwd, home })
    await agent(['undo', '--last'], { cwd, home })
    const file = join(home, 'e.json')
    const made = await agent(['evidence', '--last', '-o', file, '--key', key], { cwd, home })
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('The changes were reverted')])
    const verified = await agent(['evidence', 'verify', file], { cwd, home })
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining(', whose changes had been reverted, '),
    ])
  })

  test('says that a session landed changes before those that it is about', async () => {
    const [cwd, home, key] = [repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' }), tempDir(), join(tempDir(), 'key')]
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const append = (file: string) => [[call('exec_command', { cmd: `echo z >> ${file}` })], [say('done')]]
    await exec(append('a.txt'), ['x'], { cwd, home })
    await exec(append('b.txt'), ['resume', '--last', 'x'], { cwd, home })
    const file = join(home, 'e.json')
    const made = await agent(['evidence', '--last', '-o', file, '--key', key], { cwd, home })
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('The session also landed changes before 20')])
    const { payload } = JSON.parse(readFileSync(file, 'utf8')) as { readonly payload: string }
    const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
    expect(made.stderr).toContain(predicate.transaction.since)
    expect(predicate.trees.map(({ files }) => files.map(({ path }) => path))).toEqual([['b.txt']])
  })

  test('says which source files it leaves out, and that some were written after the run', async () => {
    const cwd = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    writeFileSync(Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0xff])]), 'x')
    execFileSync('git', ['init', '--quiet', join(cwd, 'nested')])
    const { home, key } = { home: tempDir(), key: join(tempDir(), 'key') }
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await exec([[call('exec_command', { cmd: 'echo z >> a.txt' })], [say('done')]], ['x'], {
      cwd,
      home,
    })
    writeFileSync(join(cwd, 'b.txt'), 'later\n')
    // The evidence is written into the tree itself, over an older file.
    const file = join(cwd, 'e.json')
    writeFileSync(file, 'older')
    const made = await agent(['evidence', '--last', '-o', file, '--key', key], { cwd, home })
    expect([
      made.code,
      made.stderr.replace(/^The newest run here: \S+\n/, '').replace(/^policy \w+, .*\n/m, ''),
    ]).toEqual([
      0,
      `${cwd}: 1 file that the run did not change was modified after the run; the evidence records the current content\n` +
        `${cwd}: the evidence leaves out 2 paths (submodules, names that are not UTF-8, unreadable files)\n`,
    ])
    const checked = await agent(['evidence', 'verify', file, '--tree', cwd], { cwd, home })
    expect(checked.code).toBe(0)
    expect(checked.stdout).toContain(
      '1 source file that the run did not change (not counting 2 paths that the evidence does not cover)',
    )
    rmSync(cwd, { recursive: true })
    const session = /session (\S+),/.exec(checked.stdout)?.[1] ?? ''
    const late = await agent(['evidence', session, '-o', join(home, 'e.json'), '--key', key], { cwd: home, home })
    expect([late.code, late.stderr]).toEqual([0, expect.stringContaining('its source files could not be listed')])
  })
})
