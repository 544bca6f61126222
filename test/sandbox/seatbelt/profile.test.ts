import { expect, test } from 'vitest'
import type { FileSystemView } from '../../../sandbox/file-system-view.ts'
import { parsePolicy, type SandboxPolicyInput } from '../../../sandbox/index.ts'
import { protectedBelow, writableRoots } from '../../../sandbox/roots.ts'
import type { NetworkGrant } from '../../../sandbox/seatbelt/base-rules.ts'
import { seatbeltProfile, type SeatbeltProfile } from '../../../sandbox/seatbelt/profile.ts'
import { evaluator, type Request } from './evaluator.ts'

const privateTemp = '/private/var/folders/ab/cd/T/portcullis-run/tmp'
const files = new Set(['/Users/me/.netrc'])
const absent = ['/Users/me/project/.claude', '/Users/me/project/.vscode', '/Users/me/project/.env', '/Users/me/.aws']

/** A disk like that of macOS: `/tmp`, `/var` and `/etc` are symlinks, and all paths exist except those in `absent` and everything below them. */
const mac: FileSystemView = {
  kindOf: (path) => (isAbsent(path) ? 'absent' : files.has(path) ? 'file' : 'directory'),
  realPath: (path) => (isAbsent(path) ? undefined : path.replace(/^\/(tmp|var|etc)(?=\/|$)/, '/private/$1')),
  isSymlink: (path) => /^\/(tmp|var|etc)$/.test(path),
  named: () => [],
  present: (paths) => paths,
}

function isAbsent(path: string): boolean {
  return absent.some((place) => path === place || path.startsWith(`${place}/`))
}

function profileOf(input: SandboxPolicyInput, network: NetworkGrant = { kind: 'none' }): SeatbeltProfile {
  const policy = parsePolicy(input)
  const roots = writableRoots(policy, mac)
  const guarded = {
    gitDirectories: roots.map((root) => `${root}/.git`),
    gitLinks: [],
    repositories: [],
    protectedPaths: protectedBelow(roots, policy),
  }
  return seatbeltProfile(policy, guarded, network, { host: mac, privateTemp })
}

const few = { deniedReads: ['/Users/me/.ssh', '/Users/me/.netrc'], protectedPaths: ['.claude', '.vscode/tasks.json'] }
const workspace = '/Users/me/project'

test.each([
  ['read-only', profileOf({ mode: 'read-only', workspace, ...few })],
  [
    'workspace-write-full-network',
    profileOf(
      { mode: 'workspace-write', workspace, writableRoots: ['/tmp/cache'], network: { mode: 'full' }, ...few },
      { kind: 'internet' },
    ),
  ],
  ['allowlist', profileOf({ mode: 'workspace-write', workspace, ...few }, { kind: 'proxy', port: 49152 })],
])('the profile for %s is, to the letter, the one on file', async (name, { text, parameters }) => {
  const values = Object.entries(parameters).map(([key, value]) => `; ${key} = ${value}\n`)
  await expect(`${text}\n${values.join('')}`).toMatchFileSnapshot(`profiles/${name}.sb`)
})

test('no path is part of the text, whatever it contains', () => {
  const strange = '/Users/me/a"b) (allow default) ;\n\\'
  const { text, parameters } = profileOf({ mode: 'workspace-write', workspace: strange, deniedReads: [`${strange}/x`] })
  expect(text).not.toContain('allow default')
  expect(Object.values(parameters)).toContain(strange)
  const isGranted = evaluator({ text, parameters })
  expect(isGranted({ operation: 'file-write-create', path: `${strange}/new` })).toBe(true)
  expect(isGranted({ operation: 'file-write-create', path: `${strange}/.git/hooks/pre-push` })).toBe(false)
  expect(isGranted({ operation: 'file-read-data', path: `${strange}/x` })).toBe(false)
})

const write = (path: string): Request => ({ operation: 'file-write-create', path })
const read = (path: string): Request => ({ operation: 'file-read-data', path })
const look = (path: string): Request => ({ operation: 'file-read-metadata', path })
const remove = (path: string): Request => ({ operation: 'file-write-unlink', path })

test.each([
  ['the workspace can be written to', write(`${workspace}/new`), true],
  ['a name that begins like the workspace can not', write(`${workspace}-evil/new`), false],
  ['the workspace itself stays where it is', remove(workspace), false],
  ['a root given through /tmp is writable by its real path', write('/private/tmp/cache/x'), true],
  ["the rest of the host's /tmp is closed", write('/private/tmp/x'), false],
  ["the rest of the host's /tmp can't be read", read('/private/tmp/x'), false],
  ['/tmp can be looked at, or nothing could be reached through it', look('/tmp'), true],
  [
    'the directories on the way to the private temporary directory can be looked at',
    look('/private/var/folders/ab'),
    true,
  ],
  ['their other entries can not', look('/private/var/folders/ab/ef'), false],
  ['the private temporary directory can be written to', write(`${privateTemp}/x`), true],
  ['the run directory around it can not', write('/private/var/folders/ab/cd/T/portcullis-run/x'), false],
  ['a denied directory may be seen to exist', look('/Users/me/.ssh'), true],
  ['nothing in it may', look('/Users/me/.ssh/id'), false],
  ['a denied place that is absent is denied when it appears', read('/Users/me/.aws/credentials'), false],
  ['the disk by its other name is closed', read('/System/Volumes/Data/Users/me/.ssh/id'), false],
  ['a protected directory that is absent can not be made', write(`${workspace}/.claude`), false],
  ['nor in other letters, which some volumes take for the same', write(`${workspace}/.CLAUDE/settings.json`), false],
  ['a git directory in other letters is one', write(`${workspace}/sub/.GIT/Hooks/pre-commit`), false],
  ['a protected file is, its neighbour is not', write(`${workspace}/.vscode/extensions.json`), true],
  ['a sample hook comes with git init', write(`${workspace}/sub/.git/hooks/pre-push.sample`), true],
  ['a hook below a directory named like a sample does not', write(`${workspace}/sub/.git/hooks/a.sample/x`), false],
  ['nor a sample in the repository that is there', write(`${workspace}/.git/hooks/pre-push.sample`), false],
  ['config of a repository that is there', write(`${workspace}/.git/config`), false],
  ['config of a new one, judged after the command', write(`${workspace}/sub/.git/config`), true],
  ['a hook of a submodule', write(`${workspace}/.git/modules/a/b/hooks/post-checkout`), false],
  ['alternates anywhere', write(`${workspace}/x/y/.git/objects/info/alternates`), false],
  ['an object', write(`${workspace}/.git/objects/ab/cdef`), true],
  ['a branch with a name like that of git metadata', write(`${workspace}/.git/refs/heads/hooks/config`), true],
  ['/dev/null', { operation: 'file-write-data', path: '/dev/null' }, true],
  ['a disk device', read('/dev/rdisk0'), false],
  ["somebody else's terminal", { operation: 'file-write-data', path: '/dev/ttys001' }, false],
  ['a program', { operation: 'process-exec', path: '/usr/bin/git' }, true],
  [
    'the service that opens programs for others',
    { operation: 'mach-lookup', name: 'com.apple.coreservices.launchservicesd' },
    false,
  ],
  ['the service that holds keys', { operation: 'mach-lookup', name: 'com.apple.SecurityServer' }, false],
  ['names of users', { operation: 'mach-lookup', name: 'com.apple.system.opendirectoryd.libinfo' }, true],
  ['apple events', { operation: 'appleevent-send', name: 'com.apple.finder' }, false],
  ['command lines of other processes', { operation: 'sysctl-read', name: 'kern.procargs2' }, false],
  ['its own processes', { operation: 'signal', target: 'same-sandbox' }, true],
  ['a hard link', { operation: 'file-link', path: `${workspace}/file` }, false],
  ['a clone of a denied file', { operation: 'file-clone', path: '/Users/me/.netrc' }, false],
] satisfies readonly (readonly [string, Request, boolean])[])('%s', (_, request, granted) => {
  const isGranted = evaluator(
    profileOf({
      mode: 'workspace-write',
      workspace,
      writableRoots: ['/tmp/cache'],
      ...few,
      deniedReads: [...few.deniedReads, '/Users/me/.aws'],
    }),
  )
  expect(isGranted(request)).toBe(granted)
})

test('read-only writes only to its private temporary directory', () => {
  const isGranted = evaluator(profileOf({ mode: 'read-only', workspace }))
  expect(
    ['/private/var/folders/ab/cd/T', workspace, '/private/tmp', '/', '/Users/me'].map((path) =>
      isGranted(write(`${path}/x`)),
    ),
  ).toEqual([false, false, false, false, false])
  expect(isGranted(write(`${privateTemp}/x`))).toBe(true)
})

test('even if the workspace is the whole disk, only harmless devices can be used', () => {
  const isGranted = evaluator(profileOf({ mode: 'read-only', workspace: '/', ...few }))
  expect(isGranted(read('/dev/rdisk0'))).toBe(false)
  expect(isGranted({ operation: 'file-write-data', path: '/dev/null' })).toBe(true)
  expect(isGranted(read('/Users/me/.ssh/id'))).toBe(false)
  expect(isGranted(read('/private/tmp/x'))).toBe(false)
  expect(isGranted(write('/Users/me/x'))).toBe(false)
})

test('each network grant allows exactly what it states', () => {
  const remotes = ['localhost:49152', 'localhost:5432', '*:443']
  const through = (network: NetworkGrant): readonly boolean[] => {
    const isGranted = evaluator(profileOf({ mode: 'read-only', workspace }, network))
    return [
      ...remotes.map((remote) => isGranted({ operation: 'network-outbound', remote })),
      isGranted({ operation: 'network-inbound', remote: '*:8080' }),
      isGranted({ operation: 'network-outbound', path: '/private/var/run/mDNSResponder' }),
      isGranted({ operation: 'network-outbound', path: '/private/var/run/docker.sock' }),
      isGranted({ operation: 'mach-lookup', name: 'com.apple.trustd.agent' }),
    ]
  }
  expect(through({ kind: 'none' })).toEqual([false, false, false, false, false, false, false])
  expect(through({ kind: 'proxy', port: 49152 })).toEqual([true, false, false, false, false, false, false])
  expect(through({ kind: 'internet' })).toEqual([true, true, true, true, true, false, true])
})

test('the evaluator refuses a profile whose meaning depends on which rule wins, and unknown rules', () => {
  const of = (rules: string) => evaluator({ text: `(version 1)(deny default)${rules}`, parameters: {} })
  const request = { operation: 'file-write-unlink', path: '/a' }
  expect(() => of('(deny file-write-unlink (literal "/a"))(allow file-write* (subpath "/"))')(request)).toThrow(
    /ambiguous/,
  )
  expect(() => of('(allow file-read* (vnode-type DIRECTORY))')).toThrow(/unknown filter/)
  expect(() => of('(allow file-read* (subpath (param "X")))')).toThrow(/no parameter/)
  expect(() => evaluator({ text: '(version 1)(allow default)', parameters: {} })).toThrow(/denied by default/)
})
