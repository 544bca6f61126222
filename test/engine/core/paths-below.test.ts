import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathsBelow } from '../../../engine/core/paths-below.ts'
import { temporaryDirectory } from '../../sandbox/helpers.ts'

test('files below directories whose names are not UTF-8 are found, each under a path of its own', async () => {
  const directory = await temporaryDirectory()
  for (const name of [Buffer.from('x\u00e4', 'latin1'), Buffer.from('x\ufffd'), Buffer.from('x\u00e4')]) {
    const path = Buffer.concat([Buffer.from(`${directory}/`), name])
    mkdirSync(path)
    writeFileSync(Buffer.concat([path, Buffer.from('/.env')]), '')
  }
  const found = [...pathsBelow(directory)].filter(({ isDirectory }) => !isDirectory).map(({ path }) => path)
  expect(found.toSorted()).toEqual(
    ['x\u00e4', 'x\udce4', 'x\ufffd'].map((name) => `${directory}/${name}/.env`).toSorted(),
  )
})

test('a caller that stops early doesn’t wait for the rest of a directory with very many names', async () => {
  const directory = await temporaryDirectory()
  // 5,000 names of 250 bytes make the directory larger than a megabyte where names are stored in it.
  for (let number = 0; number < 5000; number += 1) writeFileSync(`${directory}/${`${number}-`.padEnd(250, 'x')}`, '')
  const paths = pathsBelow(directory)
  expect(paths.next().done).toBe(false)
  expect(paths.return(undefined).done).toBe(true)
  expect([...pathsBelow(directory)]).toHaveLength(5000)
})
