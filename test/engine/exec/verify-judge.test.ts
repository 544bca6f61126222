import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { committed } from '../../support/judge-change.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, type Exec } from '../../support/workspace.ts'

const cmd = (text: string): Reply => [call('exec_command', { cmd: text })]
const done: Reply = [say('done')]

const files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'add.js': 'exports.add = (a, b) => a + b\n',
  'test/add.test.js': `const { test } = require('node:test')
const assert = require('node:assert')
const { add } = require('../add.js')

test('adds', () => {
  assert.equal(add(1, 2), 3)
})
test('adds nothing', () => {
  assert.equal(add(1, 0), 1)
})
`,
}

const project = (more: Readonly<Record<string, string>> = {}): string => committed({ ...files, ...more })

const end = ({ events }: Exec) => events.at(-1)

describe.skipIf(needsBubblewrap())('--verify judges with the base’s tests and configuration', () => {
  test('a change that keeps the tests and adds one lands, and the run says what was compared', async () => {
    const cwd = project()
    const ended = await exec(
      [cmd(`echo "test('adds twice', () => {})" >> test/add.test.js; echo '// more' >> add.js`), done],
      ['--json', '--verify', 'npm test', 'x'],
      { cwd },
    )
    expect(end(ended)).toMatchObject({
      type: 'turn.completed',
      verified: [
        {
          passed: true,
          judged: {
            verdict: 'kept',
            by: 'tests',
            base: { passed: 2, cached: false },
            kept: { passed: 2, exit_code: 0 },
          },
        },
      ],
    })
    expect(ended.code).toBe(0)
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toContain('// more')
  })

  test('a change that deletes the failing test and makes the script succeed doesn’t land, and the model is told', async () => {
    const cwd = project()
    const cheat = `echo 'exports.add = () => 7' > add.js; rm test/add.test.js; echo '{"scripts":{"test":"exit 0"}}' > package.json`
    const ended = await exec(
      [cmd(cheat), done, done],
      ['--json', '--verify', 'npm test', '--verify-attempts', '1', 'x'],
      { cwd, home: tempDir() },
    )
    expect(ended.code).toBe(1)
    expect(end(ended)).toMatchObject({
      type: 'turn.failed',
      result: 'weakened',
      verified: [{ passed: false, exit_code: 0, judged: { verdict: 'weakened' } }],
    })
    expect(JSON.stringify(ended.requests[2]?.body)).toContain(
      'test/add.test.js > adds passed before the change, and is gone',
    )
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toBe(files['add.js'])
  })

  const revise = `echo 'exports.add = (a, b) => a + b + 1' > add.js; sed -i 's/, 3)/, 4)/; s/, 1)$/, 2)/' test/add.test.js`

  test('a change with rewritten tests lands only with --allow-test-changes, and evidence says so', async () => {
    const [cwd, home] = [project(), tempDir()]
    const run = (...options: readonly string[]) =>
      exec([cmd(revise), done, done], ['--json', '--verify', 'npm test', '--verify-attempts', '1', ...options, 'x'], {
        cwd,
        home,
      })
    const refused = await run()
    expect(end(refused)).toMatchObject({ result: 'revised', exit_code: 1 })
    expect(refused.stderr).toContain('--allow-test-changes')
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toBe(files['add.js'])
    const keys = tempDir()
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, 'key')])
    const evidence = join(keys, 'evidence.json')
    const make = () => agent(['evidence', '--last', '-o', evidence, '--key', join(keys, 'key')], { cwd, home })
    const check = (facts: string) =>
      agent(['evidence', 'verify', evidence, '--public-key', join(keys, 'key.pub'), '--require', facts], { cwd, home })
    expect((await make()).code).toBe(0)
    const unverified = await check('verified')
    expect([unverified.code, `${unverified.stdout}${unverified.stderr}`]).toEqual([
      1,
      expect.stringContaining('not verified: npm test: revised'),
    ])
    const allowed = await run('--allow-test-changes')
    expect(end(allowed)).toMatchObject({
      result: 'done',
      verified: [{ passed: true, judged: { verdict: 'revised', allowed_by: '--allow-test-changes' } }],
    })
    expect(readFileSync(join(cwd, 'add.js'), 'utf8')).toContain('+ 1')
    expect((await make()).code).toBe(0)
    expect((await check('verified')).code).toBe(0)
    const kept = await check('verified,kept')
    expect([kept.code, `${kept.stdout}${kept.stderr}`]).toEqual([
      1,
      expect.stringContaining('not kept: npm test: revised'),
    ])
    expect((await check('fine')).code).toBe(2)
  })

  test('a weakened test lands only if --allow-weakening names its file', async () => {
    const cwd = project()
    const skip = `echo 'exports.add = (a) => a' > add.js; sed -i "s/test('adds',/test.skip('adds',/" test/add.test.js`
    const run = (...options: readonly string[]) =>
      exec(
        [cmd(skip), done],
        ['--json', '--verify-attempts', '0', '--max-turns', '2', '--verify', 'npm test', ...options, 'x'],
        { cwd },
      )
    const others = await run('--allow-test-changes', '--allow-weakening', 'other.js')
    expect(others.code).toBe(4)
    const named = await run('--allow-weakening', '*.test.js')
    expect(end(named)).toMatchObject({
      result: 'done',
      verified: [{ passed: true, judged: { verdict: 'weakened', allowed_by: '--allow-weakening *.test.js' } }],
    })
  })

  test('without a view, the run says that there is nothing to compare the tests with', async () => {
    const ended = await exec([done], ['--in-place', '--verify', 'npm test', 'x'], { cwd: project() })
    expect(ended.stderr).toContain('--verify uses the tests and the configuration that the run leaves behind')
    const plain = await exec([done], ['--verify', 'npm test', 'x'], { cwd: project() })
    expect(plain.stderr).not.toContain('leaves behind')
  })
})
