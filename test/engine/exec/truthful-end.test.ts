import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const command = (cmd: string): Reply => [call('exec_command', { cmd })]
const patch = (text: string): Reply => [call('apply_patch', { input: `*** Begin Patch\n${text}\n*** End Patch` })]

const last = ({ events }: Exec): unknown => events.at(-1)

describe.skipIf(needsBubblewrap())('a run that changed nothing', () => {
  test('is distinguished from one that did its work, and ends with 0', async () => {
    const idle = await exec([command('ls'), [say('Nothing to do.')]], ['--json', 'x'], { cwd: repository({ a: 'a' }) })
    expect(last(idle)).toMatchObject({ type: 'turn.completed', result: 'no-change' })
    expect(idle.code).toBe(0)
    const busy = await exec([command('echo b > b'), [say('Made b.')]], ['--json', 'x'], { cwd: repository() })
    expect(last(busy)).toMatchObject({ type: 'turn.completed', result: 'done' })
  })

  test('ends with 1 under --fail-on-no-change', async () => {
    const words = ['--json', '--fail-on-no-change', 'x']
    const idle = await exec([[say('Nothing to do.')]], words, { cwd: repository({ a: 'a' }) })
    expect(last(idle)).toMatchObject({ type: 'turn.failed', reason: 'failed', exit_code: 1 })
    expect(last(idle)).toMatchObject({ error: { message: expect.stringContaining('--fail-on-no-change') } })
    expect(idle.code).toBe(1)
    const busy = await exec([patch('*** Add File: b\n+b'), [say('Made b.')]], words, { cwd: repository() })
    expect([busy.code, last(busy)]).toMatchObject([0, { result: 'done' }])
  })

  test('counts as a change if it made a commit, even if every file is unchanged', async () => {
    const cwd = repository({ a: 'a' })
    const identity = ['-c', 'user.name=n', '-c', 'user.email=e@localhost']
    execFileSync('git', ['-C', cwd, ...identity, 'commit', '-qm', 'first', '--allow-empty'])
    const commit = command(`git add a && git ${identity.join(' ')} commit -qm second`)
    const ended = await exec([commit, [say('Committed.')]], ['--json', '--fail-on-no-change', 'x'], { cwd })
    expect([ended.code, last(ended)]).toMatchObject([0, { result: 'done' }])
    expect(execFileSync('git', ['-C', cwd, 'log', '--format=%s'], { encoding: 'utf8' })).toContain('second')
  })
})

describe.skipIf(needsBubblewrap())('what a final message claims and the record contradicts', () => {
  const lies = 'All tests pass, I updated `src/a.js` and pushed the commit to origin.'

  test('is in the terminal event and in the summary', async () => {
    const replies = [command('sh ./run-tests.sh'), command('git push origin main'), [say(lies)]]
    const files = { 'run-tests.sh': 'exit 1', 'src/a.js': '1' }
    const ended = await exec(replies, ['--json', 'x'], { cwd: repository(files) })
    expect(last(ended)).toMatchObject({
      type: 'turn.completed',
      unsupported_claims: [
        { claim: 'tests', text: lies, why: expect.stringContaining('failed') },
        { claim: 'push', why: expect.stringMatching(/^the push (?:failed|was refused): .*git push/) },
        { claim: 'file', why: 'src/a.js is as it was before the run' },
      ],
    })
    expect(ended.stderr).toContain(`contradicted by the record: "${lies}"`)
  })

  // The built program is read as Latin-1, so characters such as dashes must be escaped in it.
  test('is found by the built program in sentences that are not written in ASCII', async () => {
    const lie = 'Retry support is in.\n\n- `src/a.js` — requests are retried\n- `src/b.js` — new type'
    const files = { 'src/a.js': '1\n', 'src/b.js': '1\n' }
    const replies = [patch('*** Update File: src/a.js\n@@\n-1\n+2'), [say(lie)]]
    const ended = await exec(replies, ['--json', 'x'], { cwd: repository(files) })
    expect(last(ended)).toMatchObject({
      unsupported_claims: [{ claim: 'file', why: expect.stringMatching(/^src\/b/) }],
    })
  })

  test('is not reported if it is true, even about a file that git ignores', async () => {
    const replies = [
      patch('*** Update File: src/a.js\n@@\n-1\n+2'),
      command('mkdir -p out && echo 1 > out/b.js && sh ./run-tests.sh'),
      [say('All tests pass. I updated `src/a.js` and created out/b.js.')],
    ]
    const files = { 'run-tests.sh': 'exit 0', 'src/a.js': '1\n', '.gitignore': 'out/\n' }
    const ended = await exec(replies, ['--json', 'x'], { cwd: repository(files) })
    expect(last(ended)).not.toHaveProperty('unsupported_claims')
  })

  test('is reported in a resumed session only if it is contradicted', async () => {
    const cwd = repository({ 'run-tests.sh': 'exit 0', 'src/a.js': '1\n' })
    const home = tempDir()
    await exec([patch('*** Update File: src/a.js\n@@\n-1\n+2'), command('sh ./run-tests.sh'), [say('ok')]], ['x'], {
      cwd,
      home,
    })
    const said = [say('As said, all tests pass, and `src/a.js` was updated.')]
    const ended = await exec([said], ['resume', '--last', '--json', 'y'], { cwd, home })
    expect(last(ended)).not.toHaveProperty('unsupported_claims')
  })
})
