import { expect, test } from 'vitest'
import { allowBubblewrap } from '../../.github/actions/run/allow-bubblewrap.ts'
import { chooseSandbox } from '../../.github/actions/run/choose-sandbox.ts'

/** A simulated machine on which `sudo` does or doesn't work. If `sudo` works, it can load an AppArmor profile, and bubblewrap works from then on. */
function machine(
  setting: string | undefined,
  { sudo, works = false }: { readonly sudo: boolean; readonly works?: boolean },
) {
  const calls: { readonly program: string; readonly args: readonly string[]; readonly stdin: string | undefined }[] = []
  let isLoaded = works
  return {
    calls,
    read: () => setting,
    run: (program: string, args: readonly string[], stdin?: string) => {
      calls.push({ program, args, stdin })
      if (program !== '/usr/bin/sudo') return isLoaded
      isLoaded = sudo
      return sudo
    },
  }
}

test('if AppArmor forbids user namespaces, one profile is loaded, only for bwrap, and no setting of the machine changes', () => {
  const hosted = machine('1\n', { sudo: true })
  expect(allowBubblewrap(hosted)).toBe('loaded')
  const bySudo = hosted.calls.filter(({ program }) => program === '/usr/bin/sudo')
  expect(bySudo).toEqual([
    {
      program: '/usr/bin/sudo',
      args: ['-n', '/usr/sbin/apparmor_parser', '--replace'],
      stdin: expect.stringMatching(
        /^profile portcullis-bwrap \/usr\/bin\/bwrap flags=\(unconfined\) \{\n  userns,\n\}$/m,
      ),
    },
  ])
  expect(JSON.stringify(hosted.calls)).not.toMatch(/sysctl|sudoers/)
})

test.each([
  ['it is not forbidden', machine('0\n', { sudo: true })],
  ['there is no such setting', machine(undefined, { sudo: true })],
  ['bubblewrap works', machine('1\n', { sudo: true, works: true })],
])('nothing is asked of sudo where %s', (_, quiet) => {
  expect(allowBubblewrap(quiet)).toBe('not-needed')
  expect(quiet.calls.filter(({ program }) => program === '/usr/bin/sudo')).toEqual([])
})

test('nothing is changed if sudo asks for a password', () => {
  expect(allowBubblewrap(machine('1\n', { sudo: false }))).toBe('failed')
})

test.each([
  ['bubblewrap works', true, true, 'node:26', []],
  ['no image is named', false, true, '', []],
  ['the image is not there', false, false, 'node:26', []],
  ['docker has the image', false, true, 'node:26', ['-c', 'sandbox_backend="docker"', '-c', 'sandbox_image="node:26"']],
])('where %s, docker is asked accordingly', (_, works, hasImage, image, expected) => {
  const here = {
    read: () => '0\n',
    run: (program: string) => (program === '/usr/bin/docker' ? hasImage : works),
  }
  expect(chooseSandbox(here, image)).toEqual(expected)
})
