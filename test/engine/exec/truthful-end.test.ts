import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
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

describe.skipIf(needsBubblewrap())('the record of a run', () => {
  const lies = 'All tests pass, I updated `src/a.js` and pushed the commit to origin.'
  const replies = [command('sh ./run-tests.sh'), command('git push origin main')]
  const files = { 'run-tests.sh': 'exit 1', 'src/a.js': '1' }

  test('is in the terminal event and in the summary, whatever the final message says', async () => {
    const ended = await exec([...replies, [say(lies)]], ['--json', 'x'], { cwd: repository(files) })
    expect(last(ended)).toMatchObject({
      type: 'turn.completed',
      record: {
        tests: [{ command: 'sh ./run-tests.sh', outcome: 'failed', exit_code: 1, runs: 1 }],
        pushed: [{ command: 'git push origin main', outcome: expect.stringMatching(/^(?:failed|refused)$/) }],
        commits: [],
        files: { created: [], changed: [], deleted: [], tests: [] },
      },
    })
    expect(ended.stderr).toContain('  tests: sh ./run-tests.sh: failed, exit 1\n')
  })

  const claimed = (claims: object): Reply => [
    call('finish', { message: lies, tests: [], pushed: false, files: [], ...claims }),
  ]

  test('is compared with what the model claims under --claims', async () => {
    const told = {
      tests: [{ command: 'sh ./run-tests.sh', passed: true }],
      pushed: true,
      files: ['src/a.js'],
    }
    const ended = await exec([...replies, claimed(told)], ['--json', '--claims', 'x'], { cwd: repository(files) })
    expect(last(ended)).toMatchObject({
      type: 'turn.completed',
      contradictions: [
        { about: 'tests', claimed: 'sh ./run-tests.sh passed', record: 'it failed' },
        { about: 'pushed', claimed: 'pushed', record: 'nothing was pushed' },
        { about: 'files', claimed: 'src/a.js was changed', record: 'the file is as it was before the run' },
      ],
    })
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('contradicted by the record: sh ./run-tests.sh passed: it failed')
  })

  test('fails the run under --fail-on-contradiction, so that nothing lands', async () => {
    const cwd = repository(files)
    const script = [command('echo 2 > src/a.js'), claimed({ tests: [{ command: 'npm test', passed: true }] })]
    const words = ['--json', '--fail-on-contradiction', '--view=copy', 'x']
    const ended = await exec(script, words, { cwd })
    expect(last(ended)).toMatchObject({
      ...{ type: 'turn.failed', reason: 'failed', exit_code: 1 },
      error: { message: expect.stringContaining('"npm test passed", but the command never ran') },
      transaction: { outcome: 'kept' },
    })
    expect(ended.code).toBe(1)
  })

  test('contradicts nothing that is true, even about a file that git ignores', async () => {
    const good = { 'run-tests.sh': 'exit 0', 'src/a.js': '1\n', '.gitignore': 'out/\n' }
    const script = [
      patch('*** Update File: src/a.js\n@@\n-1\n+2'),
      command('mkdir -p out && echo 1 > out/b.js && sh ./run-tests.sh'),
      claimed({ tests: [{ command: 'sh ./run-tests.sh', passed: true }], files: ['src/a.js', 'out/b.js'] }),
    ]
    const ended = await exec(script, ['--json', '--fail-on-contradiction', 'x'], { cwd: repository(good) })
    expect([ended.code, last(ended)]).toMatchObject([0, { type: 'turn.completed' }])
    expect(last(ended)).not.toHaveProperty('contradictions')
  })

  test('--claims is refused with --output-schema, because each decides what the model delivers', async () => {
    const ended = await exec([], ['--claims', '--output-schema', 's.json', 'x'], { cwd: repository() })
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('--output-schema')])
  })
})
