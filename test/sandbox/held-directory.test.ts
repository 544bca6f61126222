import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDirectory } from '../../sandbox/git/held-directory.ts'
import { temporaryDirectory } from './helpers.ts'

test('the listing of a held directory is current after each change, however soon, and whatever its times are', async () => {
  const directory = await temporaryDirectory()
  const held = holdDirectory(directory)
  onTestFinished(() => held.close())
  mkdirSync(join(directory, 'in'))
  // After this pause, the directory is old enough for its cached listing to be used again.
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250))
  for (let round = 0; round < 3; round += 1) {
    await pause()
    expect(held.names('in')).toEqual([])
    for (const name of ['a', 'b', 'c']) {
      writeFileSync(join(directory, 'in', name), name)
      utimesSync(join(directory, 'in'), 1, 1)
      expect(held.names('in')?.toSorted().at(-1)).toBe(name)
      expect(held.entries('in')?.get(name)?.size).toBe(1)
    }
    await pause()
    expect(held.names('in')?.toSorted()).toEqual(['a', 'b', 'c'])
    // A different directory with the same name has its own entries.
    renameSync(join(directory, 'in'), join(directory, `was-${round}`))
    expect(held.names('in')).toBeUndefined()
    mkdirSync(join(directory, 'in'))
    rmSync(join(directory, `was-${round}`), { recursive: true })
  }
})
