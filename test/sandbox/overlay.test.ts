import { expect, test } from 'vitest'
import { explainRefusal } from '../../sandbox/views/overlay-view.ts'

test.each([
  ['unshare: unshare failed: Operation not permitted\n', 'the system does not let this process create a namespace'],
  [
    'unshare: write failed /proc/self/uid_map: Operation not permitted',
    'the system does not let this process create a namespace',
  ],
  ['mount: /x: wrong fs type, bad option, bad superblock on overlay', 'set XDG_STATE_HOME to a folder on a local disk'],
  ['mount: /x: permission denied.', 'no overlay can be mounted (mount: /x: permission denied.)'],
  ['', 'no reason was given'],
])('what keeps an overlay from being mounted is said: %s', (said, words) => {
  expect(explainRefusal(said, '0', 1000)).toContain(words)
})

test('a refusal by AppArmor says that an ordinary user can’t mount an overlay, and what an administrator can do', () => {
  // As on Ubuntu 24.04, the namespace is created, but has no privileges.
  const said = 'mount: /home/u/.local/state/portcullis/mounted/x/0: permission denied.'
  expect(explainRefusal(said, '1', 1000)).toContain('kernel.apparmor_restrict_unprivileged_userns=0')
  expect(explainRefusal(said, '1', 0)).not.toContain('AppArmor')
})
