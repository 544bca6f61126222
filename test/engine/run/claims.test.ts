import { expect, test } from 'vitest'
import type { RunRecord } from '../../../engine/core/run-record.ts'
import { checkClaims } from '../../../engine/run/claims.ts'

const record: RunRecord = {
  tests: [
    { command: 'npm run e2e', outcome: 'unknown', exit_code: 0, runs: 1 },
    { command: 'cd app && npm test 2>&1', outcome: 'passed', exit_code: 0, runs: 2 },
    { command: 'pytest -q', outcome: 'no-tests', exit_code: 0, runs: 1 },
    { command: 'cargo test', outcome: 'refused', exit_code: null, runs: 1 },
    { command: 'go test ./...', outcome: 'failed', exit_code: 1, runs: 1 },
  ],
  verified: [{ command: 'make ok', passed: false, exit_code: 2, duration_ms: 1, attempts: 1 }],
  pushed: [{ command: 'git push', outcome: 'done' }],
  commits: [],
  files: { created: ['a'], changed: ['b'], deleted: ['c'], tests: [] },
  refused: [],
}
const honest = { tests: [{ command: 'go test ./...', passed: false }], pushed: true, files: ['a', './b', 'c'] }

/** Returns what the record contradicts in these facts, as `ABOUT: CLAIMED: RECORD`. */
async function contradicted(facts: object, changes: Partial<RunRecord> = {}): Promise<readonly string[]> {
  const { output, contradictions } = checkClaims(false)
  const claims = { message: 'm', ...honest, ...facts }
  expect(output.validate(claims)).toEqual([])
  await output.delivery?.take(claims, undefined as never)
  const known = {
    outcomeOf: (command: string) => (command === './check' ? ('passed' as const) : undefined),
    isWritten: (path: string) => path === 'ignored',
  }
  return contradictions({ ...record, ...changes }, known).map(
    ({ about, claimed, record }) => `${about}: ${claimed}: ${record}`,
  )
}

const tested = (command: string, passed: boolean): object => ({ tests: [...honest.tests, { command, passed }] })

test.each<[string, object, string[]]>([
  ['what is true', {}, []],
  ['a part of a line that passed', tested('npm test', true), []],
  ['a line that passed, as failed', tested('npm test', false), ['tests: npm test failed: it passed']],
  [
    'a command that failed, as passed',
    { tests: [{ command: 'go test ./...', passed: true }] },
    ['tests: go test ./... passed: it failed'],
  ],
  ['a command whose result is unknown', tested('npm run e2e', true), []],
  ['a command that found no tests', tested('pytest -q', true), ['tests: pytest -q passed: it found no tests']],
  ['a refused command', tested('cargo test', true), ['tests: cargo test passed: it was refused']],
  ['a failed verification', tested('make ok', true), ['tests: make ok passed: it failed']],
  ['a command that is not known to test', tested('./check', true), []],
  ['a command that never ran', tested('npm t', true), ['tests: npm t passed: the command never ran']],
  ['a name that only begins like a command', tested('npm tes', true), ['tests: npm tes passed: the command never ran']],
  ['no tests, although the last ones failed', { tests: [] }, ['tests: no failed tests: go test ./... failed']],
  ['no push, although there was one', { pushed: false }, ['pushed: nothing was pushed: git push succeeded']],
  ['an unchanged file', { files: ['d'] }, ['files: d was changed: the file is as it was before the run']],
  ['a file that git ignores', { files: ['ignored'] }, []],
])('claims of %s are compared with the record', async (_, facts, expected) => {
  expect(await contradicted(facts)).toEqual(expected)
})

test('what the record does not know contradicts nothing', async () => {
  expect(await contradicted({ pushed: true }, { pushed: [{ command: 'git push', outcome: 'unknown' }] })).toEqual([])
  const files = { ...record.files, not_counted: 'too many files' }
  expect(await contradicted({ files: ['d'] }, { files })).toEqual([])
})

test('claims must have their form', () => {
  const { output } = checkClaims(true)
  expect(output.validate({ message: 'm', tests: [{ command: 'x' }], pushed: 'no', files: [] })).toHaveLength(2)
})

test('a run whose model delivered nothing contradicts nothing', () => {
  const known = { outcomeOf: () => undefined, isWritten: () => false }
  expect(checkClaims(true).contradictions(record, known)).toEqual([])
})
