import { expect, test } from 'vitest'
import { checkCommand } from '../../policies/index.ts'
import { protectedTable } from '../../sandbox/index.ts'

/** Places with the names of ordinary files and folders. Only the machine shows that they hold credentials. */
const ordinary = new Set(['~/snap', '~/work/_temp', '~/_netrc'])

const credentials = protectedTable()
  .filter(({ at, what }) => what === 'credentials' && !ordinary.has(at))
  .map(({ at }) => at.replaceAll(' ', '\\ '))

test.each(['untrusted', 'on-request', 'never'] as const)(
  'the Guardian asks about each place with credentials, although it has no list of them: %s',
  (approvalMode) => {
    const options = { approvalMode, sandbox: 'danger-full-access', cwd: '/repo' } as const
    const lines = credentials.flatMap((at) => [`cat ${at}`, `grep -r x ${at}`])
    expect(lines.filter((line) => checkCommand(line, options).decision === 'allow')).toEqual([])
  },
)
