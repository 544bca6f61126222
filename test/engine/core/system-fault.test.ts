import { expect, test } from 'vitest'
import { explainSystemFault } from '../../../engine/core/system-fault.ts'

const fault = (code: string, syscall: string, path?: string): Error =>
  Object.assign(new Error(code), { code, syscall, ...(path === undefined ? {} : { path }) })

test.each([
  [fault('EACCES', 'open', '/a/b'), '/a/b can’t be used (EACCES from open): this user has no permission'],
  [fault('ENOSPC', 'write'), 'A disk takes no more data (ENOSPC from write)'],
  [fault('EPERM', 'write'), 'An open file can’t be used (EPERM from write): this user has no permission'],
  [fault('EACCES', 'ftruncate'), 'An open file can’t be used (EACCES from ftruncate)'],
  [fault('EPERM', 'fchmod'), 'An open file can’t be used (EPERM from fchmod)'],
])('%s is the machine’s fault', (error, says) => {
  expect(explainSystemFault(error)).toContain(says.replace('’', "'"))
})

test.each([fault('EPERM', 'kill'), fault('EPERM', 'spawn'), fault('EBADF', 'write'), new Error('ENOSPC')])(
  '%s isn’t',
  (error) => expect(explainSystemFault(error)).toBeUndefined(),
)
