import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diagnose } from '../../sandbox/bubblewrap/diagnose-bubblewrap.ts'
import { tryBubblewrap } from '../../sandbox/bubblewrap/try-bubblewrap.ts'
import { temporaryDirectory } from './helpers.ts'

/** A program that fails with this message, as bwrap does on some machines. */
async function stub(message: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'bwrap')
  await writeFile(file, `#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "${message}" >&2\nexit 1\n`)
  await chmod(file, 0o755)
  return file
}

test.each([
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow it',
    /--security-opt seccomp=unconfined/,
  ],
  ['bwrap: No permissions to creating new namespace, likely because', /--security-opt seccomp=unconfined/],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /systempaths=unconfined/],
  ['bwrap: Creating new namespace failed: No space left on device', /user\.max_user_namespaces/],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', /full capabilities/],
  ['bwrap: setting up uid map: Permission denied', /docker backend/],
  ['bwrap: Unknown option --perms', /0\.6 or newer/],
  ['bwrap: something never seen', /bwrap --ro-bind/],
])('%s: the machine’s owner is told what to do', async (message, remedy) => {
  const probe = await tryBubblewrap(await stub(message))
  if (probe.works) throw new Error('the stub was taken for a working bwrap')
  expect(probe.reason).toContain(message)
  expect(probe.remedy).toMatch(remedy)
})

test('Ubuntu’s restriction is recognised, and the advice is not to switch it off', () => {
  const { reason, remedy } = diagnose('bwrap: setting up uid map: Permission denied\n', { appArmorRestricts: true })
  expect(reason).toContain('AppArmor')
  expect(remedy).toContain('apparmor_parser')
  expect(remedy).not.toContain('sysctl')
})
