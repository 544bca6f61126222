import { expect, test } from 'vitest'
import { checkCommand, type CheckOptions } from '../../policies/index.ts'
import { mayOverlap } from '../../policies/permissions/glob-overlap.ts'
import { compileGlob, matchGlob } from '../../policies/permissions/path-glob.ts'
import { tries } from '../support/tries.ts'
import { Random } from './fuzz/random.ts'
import { denying } from './decisions.ts'

const deny = ['Read(**/*.sec)', 'Read(./vault/**)', 'Read(./conf/db-*.yml)']
const options: CheckOptions = {
  approvalMode: 'on-request',
  sandbox: 'danger-full-access',
  cwd: '/w',
  permissions: denying(deny),
}

test.each(['cat src/*.ts', 'cat src/[a-z].ts', 'head -1 *.ts', 'cat conf/*.json', 'wc -l src/*.ts src/*.md'])(
  'where no sandbox holds a deny, a pattern that can name nothing of it is not asked about: %s',
  (line) => expect(checkCommand(line, options).decision).toBe('allow'),
)

test.each([
  ...[
    'cat src/*',
    'cat *.sec',
    'cat src/*.s*',
    'cat src/?.sec',
    'cat src/*.SEC',
    'cat src/*.se[c]',
    'cat src/*.[[:alpha:]]*',
  ],
  ...['cat s*/*.ts', 'cat vault/*.ts', 'cat v*/x', 'cat conf/*.yml', 'cat conf/db*.y*', 'cat *', 'grep -r x src/*.ts'],
])('and one that can is: %s', (line) => expect(checkCommand(line, options).decision).not.toBe('allow'))

test('two patterns overlap if one path matches both', () => {
  const [random, rounds] = [new Random(7), tries(5_000)]
  const letters = ['a', 'b', '.', '*', '?', '[ab]', '[!a]', '/']
  let both = 0
  for (let round = 0; round < rounds; round++) {
    const path = random
      .some(['a', 'b', '.', '/'], 1, 7)
      .split('/')
      .filter((name) => name !== '')
    // The patterns are derived from the path, so that many of them match it.
    const loosely = (): string =>
      [...path.join('/')].map((one) => (one === '/' || random.below(3) > 0 ? one : random.of(letters))).join('')
    const meant = random.of(['', '**/', 'a/**/']) + loosely() + random.of(['', '/**'])
    const typed = loosely()
      .split('/')
      .filter((name) => name !== '')
    const [permission, pattern] = [compileGlob(meant), compileGlob(typed.join('/'))]
    if (permission === undefined || pattern === undefined || path.length !== typed.length) continue
    if (!matchGlob(permission, path) || !matchGlob(pattern, path)) continue
    both++
    expect([meant, typed, mayOverlap(permission, typed)]).toEqual([meant, typed, true])
  }
  expect(both).toBeGreaterThan(rounds / 10)
})
