import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { testUnless } from '../support/needs.ts'
import { sources } from './sources.ts'

describe('a test of something that is missing here', () => {
  const skipped = testUnless('this one always skips, to show that it does')
  const never = (): never => {
    throw new Error('it was not skipped')
  }
  skipped('skips', never)
  skipped.each([1, 2])('skips with %i row of a table', never)
  skipped.for([1, 2])('skips for %i row of a table', never)

  test('has all the forms of a test that runs', () => {
    expect([typeof skipped.each, typeof skipped.for]).toEqual(['function', 'function'])
    expect(testUnless(undefined)).toBe(test)
  })
})

test('no test builds its own skipping function, which would not support tables', () => {
  const bound = `skip.${'bind'}(`
  expect(sources('test').filter((file) => readFileSync(file, 'utf8').includes(bound))).toEqual([])
})
