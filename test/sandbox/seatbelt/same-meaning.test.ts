import { dirname } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Mount } from '../../../sandbox/mount.ts'
import { planMounts } from '../../../sandbox/mounts.ts'
import { evaluateAccess } from '../../../sandbox/denials/evaluate-access.ts'
import type { FileSystemView } from '../../../sandbox/file-system-view.ts'
import { parsePolicy, type SandboxPolicy } from '../../../sandbox/index.ts'
import { protectedPlaces } from '../../../sandbox/protected/default-places.ts'
import { protectedBelow, writableRoots } from '../../../sandbox/roots.ts'
import { seatbeltProfile } from '../../../sandbox/seatbelt/profile.ts'
import { evaluator } from './evaluator.ts'
import { tries } from '../../support/tries.ts'

/** A disk on which every path exists. */
const full: FileSystemView = {
  kindOf: () => 'directory',
  realPath: (path) => path,
  isSymlink: () => false,
  named: () => [],
  present: (paths) => paths,
}

const privateTemp = '/tmp/portcullis-run/tmp'
const place = fc
  .tuple(
    fc.constantFrom('tmp', 'run', 'home', 'srv'),
    fc.array(fc.constantFrom('a', 'b', 'secret', 'bin'), { maxLength: 3 }),
  )
  .map(([top, rest]) => `/${[top, ...rest].join('/')}`)
const below = fc.array(fc.constantFrom('a', 'b', 'secret', 'bin', '.claude', 'x'), { maxLength: 4 })

const policies = fc.record({
  mode: fc.constantFrom('read-only' as const, 'workspace-write' as const),
  workspace: place,
  writableRoots: fc.array(place, { maxLength: 3 }),
  readableRoots: fc.array(place, { maxLength: 2 }),
  deniedReads: fc.array(place, { maxLength: 4 }),
  protectedPaths: fc.array(fc.oneof(fc.constantFrom('.claude', 'a/secret', 'b', 'bin/x'), place), { maxLength: 4 }),
})

/** What bubblewrap's mounts allow a command to do to a path: the innermost mount decides. */
function inMounts(mounts: readonly Mount[], path: string): { readonly read: boolean; readonly write: boolean } {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount.as]))
  for (let at = path; ; at = dirname(at)) {
    const as = byPath.get(at)
    if (as !== undefined) return { read: as === 'writable' || as === 'read-only', write: as === 'writable' }
    if (at === '/') return { read: true, write: false }
  }
}

function guardedOf(policy: SandboxPolicy, host: FileSystemView, gitDirectories: readonly string[]) {
  const protectedPaths = protectedBelow(writableRoots(policy, host), policy)
  return { gitDirectories, gitLinks: [], repositories: [], protectedPaths }
}

test('for any policy and path, a profile allows the same as the mounts of bubblewrap', () => {
  fc.assert(
    fc.property(policies, place, below, (input, from, rest) => {
      const policy = parsePolicy(input)
      const guarded = guardedOf(policy, full, [])
      const mounts = planMounts(
        policy,
        { ...guarded, git: { mounts: [], nested: [], hidden: [], configs: [], replaced: [] } },
        full,
      )
      const isGranted = evaluator(seatbeltProfile(policy, guarded, { kind: 'none' }, { host: full, privateTemp }))
      const paths = [
        [from, ...rest].join('/'),
        ...[...policy.protectedPaths, ...policy.deniedReads].map((path) => [policy.workspace, path, ...rest].join('/')),
      ].map((path) => path.replaceAll(/\/+/g, '/'))
      for (const path of paths) {
        const answer = {
          read: isGranted({ operation: 'file-read-data', path }),
          write: ['file-write-create', 'file-write-data', 'file-write-mode'].every((operation) =>
            isGranted({ operation, path }),
          ),
        }
        expect({ path, ...answer }).toEqual({ path, ...inMounts(mounts, path) })
      }
    }),
    { numRuns: tries(500) },
  )
})

test('for any protected name at any depth, the profile refuses an absent file like the policy does', () => {
  const roots = new Set(['/', '/home', '/home/w', '/home/w/a', '/home/w/a/b'])
  const bare: FileSystemView = {
    kindOf: (path) => (roots.has(path) ? 'directory' : 'absent'),
    realPath: (path) => (roots.has(path) ? path : undefined),
    isSymlink: () => false,
    named: () => [],
    present: (paths) => paths,
  }
  const policy = parsePolicy({
    mode: 'workspace-write',
    workspace: '/home/w',
    deniedReads: ['/home/w/.env', '/home/.netrc'],
  })
  const isGranted = evaluator(
    seatbeltProfile(policy, guardedOf(policy, bare, []), { kind: 'none' }, { host: bare, privateTemp }),
  )
  const gitNames = ['hooks/pre-commit', 'commondir', 'config.worktree', 'info/attributes', 'objects/info/alternates']
  const cases = fc.tuple(
    fc.constantFrom('/home/w', '/home/w/a', '/home/w/a/b/new', '/home'),
    fc.constantFrom(
      ...protectedPlaces()
        .filter((name) => !name.startsWith('/'))
        .map((name) => name.replace('**/', '')),
      'node_modules/x/.claude',
      ...gitNames.map((name) => `.git/${name}`),
      '.git/index',
      'file',
      '.env',
      '.netrc',
    ),
    fc.constantFrom('', '/x'),
  )
  fc.assert(
    fc.property(cases, ([directory, name, rest]) => {
      const path = `${directory}/${name}${rest}`
      const answer = {
        read: isGranted({ operation: 'file-read-data', path }),
        write: isGranted({ operation: 'file-write-create', path }),
      }
      const expected = {
        read: evaluateAccess(policy, { path, want: 'read' }, bare).allowed,
        write: evaluateAccess(policy, { path, want: 'write' }, bare).allowed,
      }
      expect({ path, ...answer }).toEqual({ path, ...expected })
    }),
    { numRuns: tries(500) },
  )
})
