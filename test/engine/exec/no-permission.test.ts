import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap, whyNoOtherUser } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'
import { tempDir } from '../../support/temp-dir.ts'

const asOrdinary = testUnless(process.getuid?.() === 0 ? whyNoOtherUser() : undefined)
const isRoot = process.getuid?.() === 0
const ordinary = isRoot ? ['setpriv', '--reuid', '65533', '--regid', '65533', '--clear-groups'] : []

/** A repository and a home that belong to an ordinary user. */
function owned(): { readonly cwd: string; readonly home: string } {
  const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
  execFileSync('git', ['-C', cwd, 'add', '.'])
  execFileSync('git', ['-C', cwd, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'a'])
  if (isRoot) execFileSync('chown', ['-R', '65533:65533', cwd, home])
  return { cwd, home }
}

describe('what a user has no permission for is named, and never called a bug', () => {
  asOrdinary.each(['.git', '.git/index', '.git/config', '.git/HEAD'])('%s', async (name) => {
    const given = owned()
    chmodSync(join(given.cwd, name), 0)
    const told = await exec([[say('ok')]], ['--json', '--transactional', 'x'], { ...given, startedBy: ordinary })
    chmodSync(join(given.cwd, name), 0o755)
    expect(told.stderr).not.toContain('bug')
    if (told.code === 0) return
    expect(told.stderr).toContain(join(given.cwd, '.git'))
    expect(told.stderr).toContain('no permission')
    expect(told.events.at(-1)).toMatchObject({ error: { message: expect.stringContaining('no permission') } })
  })

  asOrdinary('a read-only repository can be worked on with --transactional', async () => {
    const given = owned()
    execFileSync('chmod', ['-R', 'a-w', join(given.cwd, '.git')])
    const told = await exec([[say('ok')]], ['--transactional', 'x'], { ...given, startedBy: ordinary })
    execFileSync('chmod', ['-R', 'u+w', join(given.cwd, '.git')])
    expect({ code: told.code, stdout: told.stdout }).toEqual({ code: 0, stdout: 'ok\n' })
  })

  asOrdinary('the current directory', async () => {
    const given = owned()
    const startedBy = [
      'sh',
      '-c',
      `cd ${given.cwd}; chmod 444 .; "$@"; code=$?; chmod 755 .; exit $code`,
      'sh',
      ...ordinary,
    ]
    const told = await exec([[say('ok')]], ['--skip-git-repo-check', 'x'], { ...given, startedBy })
    expect(told.code).not.toBe(0)
    expect(told.stderr).toContain('no permission')
    expect(told.stderr).not.toContain('bug')
  })
})

const mayMount = spawnSync('unshare', ['--mount', '--', 'true']).status === 0

testUnless(mayMount ? whyNoBubblewrap() : 'only root can mount a full disk').each([
  ['for data', 'size=64k', 'head -c 1M /dev/zero > "$TMPDIR/zero"'],
  [
    'for entries',
    'size=1m,nr_inodes=8',
    'touch "$TMPDIR/"1 "$TMPDIR/"2 "$TMPDIR/"3 "$TMPDIR/"4 "$TMPDIR/"5 "$TMPDIR/"6 "$TMPDIR/"7',
  ],
])('a disk for temporary files that has no room left %s is named, and never called a bug', async (_, size, fill) => {
  const place = tempDir()
  const script = `mount -t tmpfs -o ${size} tmpfs "$TMPDIR"; ${fill} 2>/dev/null; exec "$@"`
  const given = {
    cwd: repository(),
    env: { TMPDIR: place },
    startedBy: ['unshare', '--mount', '--', 'sh', '-c', script, 'sh'],
  }
  const replies = [[call('exec_command', { cmd: 'true' })], [say('ok')]]
  const told = await exec(replies, ['--json', 'x'], given)
  expect(told.stderr).not.toContain('bug')
  expect([told.code, told.stderr]).toEqual([1, expect.stringMatching(/ENOSPC.*TMPDIR/) as string])
  const alone = await agent(['sandbox', '--', 'true'], { home: tempDir(), ...given })
  expect(alone.stderr).not.toContain('bug')
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringMatching(/ENOSPC.*TMPDIR/) as string])
})
