import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDirectory, type HeldDirectory } from '../../sandbox/git/held-directory.ts'
import { readRefs, type Refs } from '../../sandbox/git/refs.ts'
import { git, repository } from './git-repositories.ts'

/** Reads a repository's refs, and calls a function before each step of it. */
function readWhile(workspace: string, act: (step: number) => void): Refs | undefined {
  const held = holdDirectory(join(workspace, '.git'))
  onTestFinished(() => held.close())
  let steps = 0
  const after = <T>(value: () => T): T => {
    act(steps++)
    return value()
  }
  const watched: HeldDirectory = {
    ...held,
    read: (path, most) => after(() => held.read(path, most)),
    stat: (path) => after(() => held.stat(path)),
    names: (path) => after(() => held.names(path)),
  }
  return readRefs(watched, 20)
}

test('all refs are read, whenever git packs them meanwhile', async () => {
  let steps = 0
  for (let at = 0; at <= steps; at += 1) {
    const workspace = await repository()
    for (const name of ['feature/a', 'next']) git(workspace, 'branch', name)
    const commit = git(workspace, 'rev-parse', 'HEAD')
    const refs = readWhile(workspace, (step) => {
      steps = Math.max(steps, step)
      if (step === at) git(workspace, 'pack-refs', '--all')
    })
    const all = ['feature/a', 'main', 'next', 'other'].map((name): [string, string] => [`refs/heads/${name}`, commit])
    expect([...(refs ?? [])].toSorted(), `packed at step ${at}`).toEqual(all)
  }
  expect(steps).toBeGreaterThan(8)
})
