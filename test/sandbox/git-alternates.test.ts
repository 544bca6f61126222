import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAlternates, writeAlternates } from '../../sandbox/index.ts'
import { git, repository } from './git-repositories.ts'
import { temporaryDirectory } from './helpers.ts'

test('paths with any characters survive in a list of alternates, and git reads them', async () => {
  const found = await repository()
  const names = ['plain', 'gr\u00f6\u00dfe', 'a\nb', '"quoted"', 'back\\slash', '"\n\\', 'raw\udcff', '#']
  const paths = names.map((name) => `${found}/${name}`)
  expect(parseAlternates(writeAlternates(paths))).toEqual(paths)
  for (const name of names.slice(0, -2)) {
    const [objects, borrower] = [`${found}/${name}`, await temporaryDirectory()]
    execFileSync('cp', ['-r', `${found}/.git/objects`, objects])
    git('/', 'init', '-q', borrower)
    writeFileSync(`${borrower}/.git/objects/info/alternates`, writeAlternates([objects]))
    expect(git(borrower, 'cat-file', '-t', git(found, 'rev-parse', 'HEAD'))).toBe('commit')
  }
})

test('comments and empty lines in a list of alternates are skipped, and lines with broken quotes are read as plain paths', () => {
  const text = '# comment\n\n../plain\n"a\\303\\266\\tb"\n"raw\nline"\n"broken\\q"\n"open\n'
  expect(parseAlternates(Buffer.from(text))).toEqual(['../plain', 'aö\tb', 'raw\nline', '"broken\\q"', '"open'])
  expect(parseAlternates(undefined)).toEqual([])
})
