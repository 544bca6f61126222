import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach, expect, test } from 'vitest'
import { createMetadataGuard } from '../../sandbox/git/guard.ts'
import { temporaryDirectory } from './helpers.ts'

const isRoot = process.geteuid?.() === 0
const nobody = 65534

/** Runs an action with an ordinary user's rights, because file modes don't stop root. */
function asOrdinaryUser(act: () => void): void {
  if (!isRoot) return act()
  process.setegid?.(nobody)
  process.seteuid?.(nobody)
  try {
    act()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

async function ownDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  if (isRoot) chownSync(directory, nobody, nobody)
  return directory
}

/** Creates the files that make git treat a directory as a repository. */
function initialise(directory: string): void {
  for (const name of ['objects', 'refs', 'hooks']) mkdirSync(join(directory, '.git', name), { recursive: true })
  writeFileSync(join(directory, '.git/HEAD'), 'ref: refs/heads/main\n')
}

beforeEach(async () => {
  process.env['XDG_STATE_HOME'] = await ownDirectory()
  return () => {
    delete process.env['XDG_STATE_HOME']
  }
})

test.each([
  ['can be entered but neither read nor written', 0o111],
  ['can be read but not written', 0o555],
])('what is planted in a git directory that %s is moved out all the same', async (_, mode) => {
  const workspace = await ownDirectory()
  const git = join(workspace, '.git')
  asOrdinaryUser(() => {
    const guard = createMetadataGuard([workspace], [])
    guard.trust()
    initialise(workspace)
    writeFileSync(join(git, 'commondir'), '../evil')
    chmodSync(git, mode)
    expect(guard.review()).toMatchObject([{ kind: 'quarantine' }])
  })
  expect(existsSync(join(git, 'commondir'))).toBe(false)
  await chmod(git, 0o755)
})

test('a repository planted in a directory that cannot be listed is found', async () => {
  const workspace = await ownDirectory()
  const closed = join(workspace, 'closed')
  asOrdinaryUser(() => {
    const guard = createMetadataGuard([workspace], [])
    guard.trust()
    mkdirSync(closed)
    initialise(closed)
    writeFileSync(join(closed, '.git/hooks/post-checkout'), '#!/bin/sh\n')
    chmodSync(closed, 0o111)
    expect(guard.review()).toMatchObject([{ kind: 'quarantine' }])
  })
  await chmod(closed, 0o755)
})

test('without space for a quarantine, the review fails instead of leaving planted files', async () => {
  const workspace = await ownDirectory()
  asOrdinaryUser(() => {
    const guard = createMetadataGuard([workspace], [])
    guard.trust()
    initialise(workspace)
    writeFileSync(join(workspace, '.git/commondir'), '../evil')
    process.env['XDG_STATE_HOME'] = '/dev/null/state'
    expect(() => guard.review()).toThrow()
  })
})
