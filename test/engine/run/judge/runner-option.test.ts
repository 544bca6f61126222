import { expect, test } from 'vitest'
import { runnerOption } from '../../../../engine/run/judge/runner-option.ts'

const wordsFor = (command: string, script = ''): string | undefined =>
  runnerOption(command, { test: script }, '/f')?.words
const jest = '--json --outputFile=/f/jest.json'
const vitest = '--reporter=default --reporter=json --outputFile.json=/f/vitest.json'

test.each([
  ['jest -w 2', jest],
  ['./node_modules/.bin/jest --ci -w=50% src', jest],
  ['npx --yes jest', jest],
  ['CI=1 npx vitest run --pool=forks', vitest],
  ['cross-env NODE_ENV=test jest --ci', jest],
  ['node --experimental-vm-modules node_modules/jest/bin/jest.js -w 2', jest],
  ['node --no-warnings ./node_modules/vitest/vitest.mjs run', vitest],
])('%s is the runner', (command, words) => {
  expect(wordsFor(command)).toBe(words)
  expect(wordsFor('npm test', command)).toBe(`-- ${words}`)
})

test.each(['jest && echo done', 'jest | cat', 'node jest.js', 'vitest bench', 'cross-env A=1', 'node', 'npx', ''])(
  '%s is not known to be the runner and nothing else',
  (command) => {
    expect(wordsFor(command)).toBeUndefined()
  },
)
