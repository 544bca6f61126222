import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { expect, test } from 'vitest'
import { credentialPlaces } from '../../policies/commands/credential-places.ts'
import { findSensitive } from '../../policies/commands/sensitive-paths.ts'
import { sensitiveFiles, sensitiveFolders } from '../../policies/commands/sensitive-places.ts'
import { protectedTable } from '../../sandbox/index.ts'

/** Names of credentials that projects also use for other purposes, so the sandbox's table contains them only as places in home directories. */
const ofProjects = new Set(['.history', '.serverless', '.sf', '.sfdx', 'snap', 'work', '_netrc'])

/** The names of credentials in the table, except those that are also names of settings, or that projects also use for other purposes. */
function namesOfTable(): readonly string[] {
  const plain = (at: string): string => at.replace(/^(?:\*\*|~)?\//, '').toLowerCase()
  const rows = protectedTable()
  const first = (name: string): string => name.split('/')[0] ?? ''
  const settings = new Set(rows.filter(({ what }) => what === 'settings').map(({ at }) => first(plain(at))))
  const names = rows.filter(({ what }) => what === 'credentials').map(({ at }) => plain(at))
  return [...new Set(names)].filter((name) => !settings.has(first(name)) && !ofProjects.has(first(name))).toSorted()
}

const file = new URL('../../policies/commands/credential-places.ts', import.meta.url)

/** The expected module: lines of names, wrapped at our line length. */
function moduleOf(names: readonly string[]): string {
  const lines: string[] = ['']
  for (const name of names) {
    const line = lines.at(-1) ?? ''
    if (line.length + name.length > 115) lines.push(name)
    else lines[lines.length - 1] = line === '' ? name : `${line} | ${name}`
  }
  const [comment = '', end = ''] = readFileSync(file, 'utf8').split(/(?<=`\n)[^]*(?=`\)?\n)/)
  return comment + lines.map((line) => `  ${line}\n`).join('') + end
}

test("the Guardian's names of credentials are those of the sandbox's table: PREPARE=1 writes them again", () => {
  const wanted = moduleOf(namesOfTable())
  if (process.env['PREPARE'] !== undefined) writeFileSync(file, wanted)
  expect(readFileSync(file, 'utf8')).toBe(wanted)
  expect(credentialPlaces.toSorted()).toEqual(namesOfTable())
})

test('each name is recognized by its spelling, in any directory', () => {
  expect(credentialPlaces.filter((name) => findSensitive(`/somewhere/${name}`) === undefined)).toEqual([])
})

test('additional names are in no row of the table', () => {
  const rows = new Set(credentialPlaces)
  const isInRow = (name: string): boolean => [...rows].some((row) => name === row || name.startsWith(`${row}/`))
  expect([...sensitiveFolders, ...sensitiveFiles].filter(isInRow)).toEqual([])
})
