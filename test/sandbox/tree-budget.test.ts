import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTreeBudget, treeBounds, TreeTooLarge } from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'

test('a directory is listed with the kinds of its entries, and names that aren’t text', () => {
  const directory = tempDir({ 'file.txt': '' })
  mkdirSync(join(directory, 'folder'))
  symlinkSync('nowhere', join(directory, 'link'))
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff])]), '')
  const listed = openTreeBudget(directory).list(directory)
  expect(listed.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
    { name: 'file.txt', kind: 'file' },
    { name: 'folder', kind: 'directory' },
    { name: 'link', kind: 'link' },
    { name: '\u00ff', kind: 'file' },
  ])
})

test('a directory so large that it is read in pieces is listed completely, and only up to the bound', () => {
  const directory = tempDir()
  // 5,000 names of 250 bytes make the directory larger than a megabyte where names are stored in it.
  const names = Array.from({ length: 5000 }, (_, number) => `${number}-`.padEnd(250, 'x'))
  for (const name of names) writeFileSync(join(directory, name), '')
  const listed = openTreeBudget(directory).list(directory)
  expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  expect(() => openTreeBudget(directory, { ...treeBounds, entries: 4999 }).list(directory)).toThrow(
    new TreeTooLarge(`there are more than 4,999 entries in ${directory}`),
  )
})

test('a walk ends at the bound of its entries, of its paths or of its time, with the place and the bound', () => {
  const over = (bounds: Partial<typeof treeBounds>) => () => {
    const budget = openTreeBudget('/tree', { ...treeBounds, ...bounds })
    for (let entry = 0; entry < 1000; entry += 1) budget.count(2000)
  }
  expect(over({})).not.toThrow()
  expect(over({ entries: 999 })).toThrow('there are more than 999 entries in /tree')
  expect(over({ bytes: 1_999_999 })).toThrow('the paths in /tree have more than 1 MB')
  expect(over({ milliseconds: -1 })).toThrow('looking through /tree took longer than')
})
