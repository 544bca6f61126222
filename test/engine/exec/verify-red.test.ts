import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { committed } from '../../support/judge-change.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, type Exec } from '../../support/workspace.ts'

const cmd = (text: string): Reply => [call('exec_command', { cmd: text })]
const done: Reply = [say('done')]

const testFile = `const { test } = require('node:test')
const assert = require('node:assert')
const { add } = require('../add.js')

test('adds nothing', () => {
  assert.equal(add(1, 0), 1)
})
`
const files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'add.js': 'exports.add = (a, b) => a - b\n',
  'test/add.test.js': testFile,
}

const project = (more: Readonly<Record<string, string>> = {}): string => committed({ ...files, ...more })

const red = ['--json', '--verify-red', 'npm test', '--verify-attempts', '1']
const end = ({ events }: Exec) => events.at(-1)
const judged = (ended: Exec) => (end(ended) as { verified?: { judged?: unknown }[] }).verified?.[0]?.judged

const mend = `sed -i 's/a - b/a + b/' add.js`
const addTest = `echo "test('adds', () => assert.equal(add(1, 2), 3))" >> test/add.test.js`

describe.skipIf(needsBubblewrap())('--verify-red lands a change only if its command failed without it', () => {
  test('a mended bug lands if its new test fails without the change', async () => {
    const cwd = project()
    const ended = await exec([cmd(`${mend}; ${addTest}`), done], [...red, 'x'], { cwd })
    expect(judged(ended)).toMatchObject({ verdict: 'kept', red_before: 'new tests' })
    expect(ended.stderr).toContain('failed before, with the new tests')
    expect(ended.code).toBe(0)
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toContain('a + b')
  })

  test('a mended bug lands if a test of the base failed', async () => {
    const cwd = project({ 'test/add.test.js': `${testFile}test('adds', () => assert.equal(add(1, 2), 3))\n` })
    const ended = await exec([cmd(mend), done], [...red, 'x'], { cwd })
    expect(judged(ended)).toMatchObject({ verdict: 'kept', red_before: 'base' })
    expect(ended.code).toBe(0)
  })

  test.each([
    ['without a new test', mend],
    ['with a test that passes without the change', `${mend}; echo "test('a', () => add(1, 2))" >> test/add.test.js`],
    ['without any change', 'true'],
  ])('a change %s doesn’t land, and the model is told', async (_, change) => {
    const cwd = project()
    const ended = await exec([cmd(change), done, done], [...red, 'x'], { cwd })
    expect(ended.code).toBe(1)
    expect(end(ended)).toMatchObject({ type: 'turn.failed', result: 'failed' })
    expect(ended.stderr).toContain('never seen to fail without the change')
    expect(JSON.stringify(ended.requests[2]?.body)).toContain('they must also fail without your change')
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toBe(files['add.js'])
  })

  test('a command that fails on the base only because its file isn’t there must fail with the file', async () => {
    const file = 'test/new.test.js'
    const command = ['--json', '--verify-red', `node --test ${file}`, '--verify-attempts', '1', 'x']
    const write = (body: string) =>
      cmd(`${mend}; sed '/^test/,$d' test/add.test.js > ${file}; echo "${body}" >> ${file}`)
    const empty = await exec([write("test('new', () => {})"), done, done], command, { cwd: project() })
    expect(empty.code).toBe(1)
    const real = await exec([write("test('new', () => assert.equal(add(1, 2), 3))"), done], command, { cwd: project() })
    expect(judged(real)).toMatchObject({ red_before: 'new tests' })
    expect(real.code).toBe(0)
  })

  test('without a view there is no base, so the run doesn’t begin', async () => {
    const ended = await exec([done], ['--json', '--in-place', '--verify-red', 'npm test', 'x'], { cwd: project() })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('--verify-red can’t be kept here'.replace('’', "'"))
  })
})
