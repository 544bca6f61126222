/** Access control lists, extended attributes and capabilities of files that a patch changes. */
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { commit, parsePatch, planPatch, undo } from '../../../apply-patch/index.ts'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { makeScene, type Layout } from './tree-tools.ts'

const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname

function whyNot(): string | undefined {
  const script = 'f=$(mktemp) && setfacl -m u:65534:r "$f" && setfattr -n user.a -v 1 "$f" && rm "$f"'
  const { status } = spawnSync('sh', ['-c', script])
  return (
    whyNotRoot('can set all attributes') ??
    (status === 0 ? undefined : 'the packages acl and attr are not installed, or /tmp has no attributes')
  )
}
const withAttributes = testUnless(whyNot())

function run(file: string, args: readonly string[], cwd: string, input = ''): string {
  const { status, stdout, stderr } = spawnSync(file, args, { cwd, input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The mode and all attributes of a file. */
function facts(root: string, path: string): string {
  const mode = (lstatSync(join(root, path)).mode & 0o7777).toString(8)
  const dump = run('getfattr', ['-h', '-d', '-m', '-', '-e', 'hex', '--absolute-names', path], root)
  return [
    mode,
    ...dump
      .split('\n')
      .slice(1)
      .filter((line) => line !== ''),
  ].join(' ')
}

/**
 * Runs the program in a tree.
 *
 * @param hidden programs that can't be run, or that do nothing if `by` is `/bin/true`
 */
function patch(
  root: string,
  state: string,
  input: string,
  args: readonly string[] = [],
  hidden: readonly string[] = [],
  by = '/dev/null',
) {
  const mounts = hidden.map((name) => `mount --bind ${by} "$(readlink -f "$(command -v ${name})")" && `).join('')
  const script = `${mounts}exec "$@"`
  const env = { PATH: process.env['PATH'], XDG_STATE_HOME: state }
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', 'sh', '-c', script, 'sh', process.execPath, program, ...args],
    {
      cwd: root,
      input,
      env,
      encoding: 'utf8',
    },
  )
  return { status, stdout, stderr }
}

function makeTree(layout: Layout): { root: string; state: string } {
  const { root, state } = makeScene(layout)
  return { root, state }
}

const update = '*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** End Patch\n'
const list = ['-m', 'u:65534:rw,g:7:x']
// The capability `cap_net_raw+ep`, as the kernel stores it.
const capability = '0x0100000200200000000000000000000000000000'

withAttributes('an update keeps the list, the attributes and the capabilities of a file, and so does its undo', () => {
  const { root, state } = makeTree({ f: { mode: 0o640, text: 'one\n' } })
  run('setfacl', [...list, 'f'], root)
  run('setfattr', ['-n', 'user.note', '-v', '0x00ff0a5c2220', 'f'], root)
  run('setfattr', ['-n', 'trusted.t', '-v', 'x', 'f'], root)
  run('setfattr', ['-n', 'security.capability', '-v', capability, 'f'], root)
  const before = facts(root, 'f')
  expect(before.split(' ')).toHaveLength(5)
  expect(patch(root, state, update)).toEqual({
    status: 0,
    stdout: expect.stringContaining('M f') as string,
    stderr: '',
  })
  expect(facts(root, 'f')).toBe(before)
  expect(patch(root, state, '', ['undo'])).toMatchObject({ status: 0, stderr: '' })
  expect(facts(root, 'f')).toBe(before)
})

withAttributes('a change that gives no privileges leaves capabilities out, and its undo restores them', async () => {
  const { root } = makeTree({ f: { mode: 0o755, text: 'one\n' } })
  run('setfattr', ['-n', 'user.note', '-v', '1', 'f'], root)
  run('setfattr', ['-n', 'security.capability', '-v', capability, 'f'], root)
  const before = facts(root, 'f')
  const planned = await planPatch(parsePatch(update, { mode: 'strict' }).patch, { root })
  const changes = planned.changes.map((each) =>
    each.type === 'write' ? { ...each, isUnprivileged: true as const } : each,
  )
  await commit({ ...planned, changes })
  expect(facts(root, 'f')).toBe('755 user.note=0x31')
  await undo(root)
  expect(facts(root, 'f')).toBe(before)
})

withAttributes(
  'a moved file takes its attributes with it, also over another file, and an undo gives each its own',
  () => {
    const { root, state } = makeTree({
      f: { mode: 0o640, text: 'one\n' },
      g: { mode: 0o644, text: 'g\n' },
      h: 'h\n',
      'with space\\1': 'one\n',
    })
    run('setfacl', [...list, 'f'], root)
    run('setfattr', ['-n', 'user.of', '-v', 'g', 'g'], root)
    run('setfattr', ['-n', 'user.of', '-v', 'h', 'h'], root)
    run('setfattr', ['-n', 'user.of', '-v', 's', 'with space\\1'], root)
    const before = ['f', 'g', 'h', 'with space\\1'].map((name) => facts(root, name))
    const moves =
      '*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-one\n+1\n*** Delete File: h\n*** Update File: with space\\1\n*** Move to: new/i\n@@\n-one\n+1\n*** End Patch\n'
    expect(patch(root, state, moves)).toMatchObject({ status: 0 })
    expect([facts(root, 'g'), facts(root, 'new/i')]).toEqual([before[0], before[3]])
    expect(patch(root, state, '', ['undo'])).toMatchObject({ status: 0, stderr: '' })
    expect(['f', 'g', 'h', 'with space\\1'].map((name) => facts(root, name))).toEqual(before)
  },
)

withAttributes('a new version does not inherit rights that the old one did not have, but a new file does', () => {
  const { root, state } = makeTree({ 'd/f': { mode: 0o660, text: 'one\n' } })
  run('setfacl', ['-d', '-m', 'u:65534:rwx', 'd'], root)
  const both = update.replace('File: f', 'File: d/f').replace('*** End', '*** Add File: d/new\n+x\n*** End')
  expect(patch(root, state, both)).toMatchObject({ status: 0, stderr: '' })
  expect(facts(root, 'd/f')).toBe('660')
  expect(facts(root, 'd/new')).toContain('system.posix_acl_access')
  for (const hidden of [['getfattr'], ['getfattr', 'getfacl']]) {
    expect(patch(root, state, '', ['undo'], hidden)).toMatchObject({ status: 0 })
    expect(facts(root, 'd/f').split(' ')[0]).toBe(hidden.length === 1 ? '660' : '600')
    chmodSync(join(root, 'd/f'), 0o660)
    if (hidden.length === 1) expect(patch(root, state, both, [], hidden)).toMatchObject({ status: 0 })
  }
})

withAttributes('what the system gives to files is neither kept nor worth a word', () => {
  const { root, state } = makeTree({ f: 'one\n' })
  run('setfattr', ['-n', 'security.selinux', '-v', 'old', 'f'], root)
  run('setfattr', ['-n', 'user.com.apple.quarantine', '-v', 'q', 'f'], root)
  expect(patch(root, state, update)).toMatchObject({ status: 0, stderr: '' })
  expect(facts(root, 'f')).toBe('644')
})

withAttributes('with the package acl alone, lists are kept', () => {
  const { root, state } = makeTree({ f: { mode: 0o640, text: 'one\n' } })
  run('setfacl', [...list, 'f'], root)
  const before = facts(root, 'f')
  expect(patch(root, state, update, [], ['getfattr'])).toMatchObject({ status: 0, stderr: '' })
  expect(facts(root, 'f')).toBe(before)
})

withAttributes('without these packages, a file with a list is not touched, and the error says what would help', () => {
  const { root, state } = makeTree({ f: { mode: 0o640, text: 'one\n' }, g: 'g\n' })
  run('setfacl', [...list, 'f'], root)
  const before = facts(root, 'f')
  const { status, stderr } = patch(root, state, update, [], ['getfattr', 'getfacl'])
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(
      /access control list.*install the package "attr" or "acl"[^]*Nothing was changed/,
    ) as string,
  })
  expect(facts(root, 'f')).toBe(before)
})

withAttributes('a list that can not be given to the new version leaves nobody with more rights, and a warning', () => {
  const { root, state } = makeTree({ f: { mode: 0o640, text: 'one\n' } })
  run('setfacl', ['-m', 'u:65534:rw', 'f'], root)
  expect(facts(root, 'f').split(' ')[0]).toBe('660')
  const { status, stderr } = patch(root, state, update, [], ['setfattr'], '/bin/true')
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: 'warning: f could not keep its access control list; nobody has more rights to the file than before\n',
  })
  expect(facts(root, 'f')).toBe('640')
})

withAttributes('law: whatever list, attributes and mode a file has, it keeps them', async () => {
  const rights = fc.constantFrom('r', 'w', 'x', 'rw', 'rwx', '-')
  const entry = fc
    .tuple(fc.constantFrom('u:1', 'u:65534', 'g:2', 'g:100', 'm:', 'g:'), rights)
    .map(([who, what]) => `${who}:${what}`)
  const attribute = fc.tuple(
    fc.constantFrom('user.a', 'user.b=c', 'user.ü', 'trusted.x'),
    fc.uint8Array({ maxLength: 12 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0o600, 0o644, 0o664, 0o755, 0o4755, 0o2755),
      fc.array(entry, { maxLength: 4 }),
      fc.array(attribute, { maxLength: 2 }),
      async (mode, entries, attributes) => {
        await Promise.resolve()
        const { root, state } = makeTree({})
        mkdirSync(join(root, 'd'))
        writeFileSync(join(root, 'd/f'), 'one\n')
        chmodSync(join(root, 'd/f'), mode)
        for (const one of entries) run('setfacl', ['-m', one, 'd/f'], root)
        for (const [name, value] of attributes)
          run('setfattr', ['-n', name, '-v', `0x${Buffer.from(value).toString('hex')}`, 'd/f'], root)
        const before = facts(root, 'd/f')
        expect(patch(root, state, update.replace('File: f', 'File: d/f'))).toMatchObject({ status: 0, stderr: '' })
        expect(facts(root, 'd/f')).toBe(before)
      },
    ),
    { numRuns: 12 },
  )
})
