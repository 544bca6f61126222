import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { execFileSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript, testUnless, whyNoControlGroups } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const run = (cmd: string, more: object = {}) => call('exec_command', { cmd, ...more })
const onFailure = ['--json', '--ask-for-approval', 'on-failure']

type Asked = {
  readonly action: { readonly escalation?: { readonly justification: string; readonly grants?: readonly object[] } }
  readonly suggestedRule?: string
}

/** A reviewing program that always gives the same answer, and records the questions. */
function answering(outcome: 'allow' | 'deny', scope?: 'run') {
  const directory = tempDir({
    'answer.mjs': `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(new URL('./log', import.meta.url), line + '\\n')
  const { id } = JSON.parse(line)
  process.stdout.write(JSON.stringify({ id, outcome: '${outcome}', reason: 'said so', scope: '${scope ?? 'once'}' }) + '\\n')
}`,
  })
  const log = join(directory, 'log')
  const lines = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [])
  return {
    flags: ['--approval-program', `"${process.execPath}" "${join(directory, 'answer.mjs')}"`],
    grants: () => lines().map((line) => (JSON.parse(line) as Asked).action.escalation?.grants),
    rules: () => lines().map((line) => (JSON.parse(line) as Asked).suggestedRule),
  }
}

const commands = ({ events }: Exec) =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item] : [],
  )

/** A repository, and next to it a folder that the sandbox doesn't let commands write to. With the options `flags`, commands can read the folder. */
function besides(files: Readonly<Record<string, string>> = {}) {
  const base = tempDir(Object.fromEntries(Object.entries(files).map(([path, text]) => [`out/${path}`, text])))
  const cwd = join(base, 'repository')
  const out = join(base, 'out')
  mkdirSync(cwd)
  mkdirSync(out, { recursive: true })
  execFileSync('git', ['init', '--quiet', cwd])
  return { cwd, out, flags: ['-c', `sandbox_read.allow=[${JSON.stringify(base)}]`] }
}

const result = ({ requests }: Exec, index = 1): string => JSON.stringify(requests[index]?.body)

describe.skipIf(needsBubblewrap())(
  'on-failure asks for what the sandbox refused and the command names, and runs again with just that',
  () => {
    test('a grant to write one file does not cover its neighbour', async () => {
      const { cwd, out, flags } = besides({ 'a.txt': 'old\n', 'b.txt': 'old\n' })
      const reviewer = answering('allow')
      const ended = await exec(
        [[run(`echo new > ${out}/a.txt && echo new > ${out}/b.txt || exit 1`)], [say('ok')]],
        [...onFailure, ...flags, ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([
        [{ kind: 'write', path: join(out, 'a.txt') }],
        [
          { kind: 'write', path: join(out, 'a.txt') },
          { kind: 'write', path: join(out, 'b.txt') },
        ],
      ])
      expect(commands(ended)).toMatchObject([
        { status: 'failed', denials: [{ certainty: 'suspected' }] },
        { status: 'failed', granted: [`writing ${out}/a.txt`] },
        { status: 'completed', granted: [`writing ${out}/a.txt`, `writing ${out}/b.txt`] },
      ])
      expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('new\n')
      expect(result(ended)).toContain(`The command ran again, with permission for writing ${out}/a.txt.`)
    })

    test('the wider sandbox adds only the one path', async () => {
      const { cwd, out, flags } = besides({ 'a.txt': 'old\n', 'b.txt': 'old\n' })
      await exec(
        [[run(`(echo new > ${out}/b.txt); (echo new > ${out}/a.txt)`)], [say('ok')]],
        [...onFailure, ...flags, ...answering('allow').flags, 'x'],
        { cwd },
      )
      expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('new\n')
    })

    test('a grant for a new file covers only that file', async () => {
      const { cwd, out, flags } = besides({ 'old.txt': 'old\n' })
      const reviewer = answering('allow')
      const ended = await exec(
        [[run(`echo new > ${out}/new; echo x > ${out}/old.txt; test -s ${out}/new`)], [say('ok')]],
        [...onFailure, ...flags, ...reviewer.flags, 'x'],
        {
          cwd,
        },
      )
      expect(reviewer.grants()[0]).toContainEqual({ kind: 'write', path: join(out, 'new') })
      expect(reviewer.grants().flat()).not.toContainEqual({ kind: 'write', path: out })
      expect(commands(ended).at(-1)).toMatchObject({ status: 'completed' })
      expect(readFileSync(join(out, 'new'), 'utf8')).toBe('new\n')
    })

    test('a grant to read one file does not cover its neighbour', async () => {
      const { cwd, out } = besides({ 'a.txt': 'seen\n', 'b.txt': 'unseen\n' })
      const reviewer = answering('allow')
      const ended = await exec(
        [[run(`cat ${out}/a.txt && ls ${out}`)], [say('ok')]],
        [...onFailure, ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([[{ kind: 'read', path: join(out, 'a.txt') }]])
      expect(commands(ended).at(-1)).toMatchObject({ status: 'completed', aggregated_output: 'seen\na.txt\n' })
    })

    test('a grant for a host covers that host and port', async () => {
      const server = createServer((_, response) => response.end('served'))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      const { cwd } = besides()
      const reviewer = answering('allow')
      const ended = await exec(
        [[run(`curl -sSf --noproxy '' http://0.0.0.0:${port}/`)], [say('ok')]],
        [...onFailure, '-c', 'sandbox_workspace_write.allowed_hosts=["example.test"]', ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([[{ kind: 'network', host: '0.0.0.0', port }]])
      expect(commands(ended).at(-1)).toMatchObject({ status: 'completed', aggregated_output: 'served' })
    })

    test('nobody is asked about a loopback address, because no grant leads to this machine', async () => {
      const { cwd } = besides()
      const reviewer = answering('allow')
      const ended = await exec(
        [[run(`curl -sSf --noproxy '' http://127.0.0.1:9/`)], [say('ok')]],
        [...onFailure, '-c', 'sandbox_workspace_write.allowed_hosts=["example.test"]', ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([])
      expect(JSON.stringify(commands(ended).at(-1)?.denials)).toContain('pass --service 127.0.0.1:9, or add')
    })

    test('a grant for a host in a run without a network allows just that host', async () => {
      const { cwd } = besides()
      const reviewer = answering('allow')
      const ended = await exec(
        [[run('curl -sSf http://nowhere.test/; curl -sSf -m 5 http://elsewhere.test/')], [say('ok')]],
        [...onFailure, ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()[0]).toEqual([
        { kind: 'network', host: 'nowhere.test' },
        { kind: 'network', host: 'elsewhere.test' },
      ])
      expect(commands(ended).length).toBeGreaterThan(1)
    })

    testUnless(whyNoControlGroups())('a limit: that one, twice as high', async () => {
      const { cwd } = besides()
      const reviewer = answering('allow')
      const ended = await exec(
        [[run('set -o pipefail; head -c 90000000 /dev/zero | tail -c 90000000 | wc -c')], [say('ok')]],
        [...onFailure, '-c', 'sandbox_limits.memory="64M"', ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([[{ kind: 'limit', name: 'memoryBytes', value: 128 * 1024 * 1024 }]])
      expect(commands(ended).at(-1)).toMatchObject({ status: 'completed', aggregated_output: '90000000\n' })
    })

    test('after a refusal the first result counts, and the model reads the reason', async () => {
      const { cwd, out, flags } = besides({ 'a.txt': 'old\n' })
      const ended = await exec(
        [[run(`echo new > ${out}/a.txt`)], [say('ok')]],
        [...onFailure, ...flags, ...answering('deny').flags, 'x'],
        { cwd },
      )
      expect(commands(ended)).toMatchObject([{ status: 'failed' }, { status: 'declined' }])
      expect(result(ended)).toContain('Process exited with code 1')
      expect(result(ended)).toContain(`The Guardian was asked to allow writing ${out}/a.txt. Refused`)
      expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('old\n')
    })

    test('without a person nobody is asked: the command has failed, and was not denied', async () => {
      const { cwd, out, flags } = besides({ 'a.txt': 'old\n' })
      const ended = await exec([[run(`echo new > ${out}/a.txt`)], [say('ok')]], [...onFailure, ...flags, 'x'], { cwd })
      expect(commands(ended)).toMatchObject([{ status: 'failed', denials: [{ certainty: 'suspected' }] }])
      expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 0 })
    })

    test.each([
      ['words about a file that the command does not open', `echo "cat: /etc/shadow: Permission denied" >&2; exit 1`],
      [
        'words about a host that the command does not ask',
        `echo 'curl: (6) Could not resolve host: evil.test' >&2; exit 6`,
      ],
      ['words alone', `echo 'permission denied, sandbox, read-only file system' >&2; exit 1`],
      ['a suspicion', `echo 'x: Operation not permitted' >&2; exit 1`],
      ['a refusal of the file system’s own', `touch a; chmod 0 a; cat a; false`],
      ['a command that got over it', `touch /usr/x || true`],
    ])('%s ask for nothing', async (_, cmd) => {
      const reviewer = answering('allow')
      const ended = await exec([[run(cmd)], [say('ok')]], [...onFailure, ...reviewer.flags, 'x'], { cwd: repository() })
      expect(reviewer.grants()).toEqual([])
      expect(commands(ended)).toHaveLength(1)
    })

    test('write access to files that control other programs is never granted, even with approval', async () => {
      const { cwd, out, flags } = besides({ '.git/config': '' })
      const ended = await exec(
        [[run(`echo x >> ${out}/.git/config`)], [say('ok')]],
        [...onFailure, ...flags, ...answering('allow').flags, 'x'],
        { cwd },
      )
      expect(commands(ended).some(({ status }) => status === 'completed')).toBe(false)
      expect(readFileSync(join(out, '.git/config'), 'utf8')).toBe('')
    })

    test('other modes ask for nothing that the model did not ask for', async () => {
      const { cwd, out, flags } = besides({ 'a.txt': 'old\n' })
      const reviewer = answering('allow')
      await exec(
        [[run(`echo new > ${out}/a.txt`)], [say('ok')]],
        ['--json', '--ask-for-approval', 'on-request', ...flags, ...reviewer.flags, 'x'],
        { cwd },
      )
      expect(reviewer.grants()).toEqual([])
    })
  },
)

describe.skipIf(needsBubblewrap())('how long a grant holds', () => {
  test('a grant for once: the next command is asked about again', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': '' })
    const reviewer = answering('allow')
    await exec(
      [[run(`echo 1 >> ${out}/a.txt`)], [run(`echo 2 >> ${out}/a.txt`)], [say('ok')]],
      [...onFailure, ...flags, ...reviewer.flags, 'x'],
      { cwd },
    )
    expect(reviewer.grants()).toHaveLength(2)
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('1\n2\n')
  })

  test('a grant for the run: later commands have it from the start', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': '' })
    const reviewer = answering('allow', 'run')
    const ended = await exec(
      [[run(`echo 1 >> ${out}/a.txt`)], [run(`echo 2 >> ${out}/a.txt`)], [say('ok')]],
      [...onFailure, ...flags, ...reviewer.flags, 'x'],
      { cwd },
    )
    expect(reviewer.grants()).toHaveLength(1)
    expect(commands(ended).map(({ status }) => status)).toEqual(['failed', 'completed', 'completed'])
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('1\n2\n')
  })

  test.skipIf(needsScript())('as a rule: the next run grants it by itself, with nobody there', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': '' })
    const home = tempDir()
    const { shown } = await execAtTerminal(
      [[run(`echo 1 >> ${out}/a.txt`)], [say('ok')]],
      ['--ask-for-approval', 'on-failure', ...flags, 'x'],
      [{ after: '[y/r/a/n/s] ', text: 'a\n' }],
      { cwd, home },
    )
    expect(shown).toContain(`asks for writing ${out}/a.txt`)
    expect(shown).toContain(`Edit(/${out}/a.txt)`)
    const kept = join(home, '.config/portcullis/permissions.json')
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({ permissions: { allow: [`Edit(/${out}/a.txt)`] } })
    const ended = await exec([[run(`echo 2 >> ${out}/a.txt`)], [say('ok')]], [...onFailure, ...flags, 'x'], {
      cwd,
      home,
    })
    expect(commands(ended).at(-1)).toMatchObject({
      status: 'completed',
      verdict: { decided_by: 'permissions', rule: expect.stringContaining(`${kept}:4`) },
    })
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('1\n2\n')
  })

  test('a rule in the repository grants nothing', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': '' })
    mkdirSync(join(cwd, '.claude'))
    writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ permissions: { allow: ['Edit(//**)'] } }))
    await exec([[run(`echo 2 >> ${out}/a.txt`)], [say('ok')]], [...onFailure, ...flags, '--trust', 'x'], { cwd })
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('')
  })
})

describe.skipIf(needsBubblewrap())('a call that asks for more itself', () => {
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'the report goes there' }
  const onRequest = ['--json', '--ask-for-approval', 'on-request']

  test('is asked about with the access that its command needs, and then runs with that', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': 'old\n' })
    const reviewer = answering('allow')
    const ended = await exec(
      [[run(`echo new > ${out}/a.txt`, escalated)], [say('ok')]],
      [...onRequest, ...flags, ...reviewer.flags, 'x'],
      { cwd },
    )
    expect(reviewer.grants()).toEqual([[{ kind: 'write', path: join(out, 'a.txt') }]])
    expect(commands(ended)).toMatchObject([{ status: 'completed', granted: [`writing ${out}/a.txt`] }])
  })

  test('can name what it needs, and gets no more', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': 'old\n', 'b.txt': 'old\n', 'go.sh': 'echo n > $1; echo n > $2\n' })
    const reviewer = answering('allow')
    const more = { ...escalated, additional_permissions: { write: [join(out, 'a.txt')] } }
    await exec(
      [[run(`sh ${out}/go.sh ${out}/a.txt ${out}/b.txt; true`, more)], [say('ok')]],
      [...onRequest, ...flags, ...reviewer.flags, 'x'],
      { cwd },
    )
    expect(reviewer.grants()).toEqual([[{ kind: 'write', path: join(out, 'a.txt') }]])
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('n\n')
    expect(readFileSync(join(out, 'b.txt'), 'utf8')).toBe('old\n')
  })

  test('without a visible need runs in the sandbox first, and the model can request what the output names', async () => {
    const { cwd, out, flags } = besides({ 'a.txt': 'old\n', 'go.sh': `echo new > $(dirname $0)/a.txt\n` })
    const reviewer = answering('allow')
    const more = { ...escalated, additional_permissions: { write: [join(out, 'a.txt')] } }
    const ended = await exec(
      [[run(`sh ${out}/go.sh`, escalated)], [run(`sh ${out}/go.sh`, more)], [say('ok')]],
      [...onRequest, ...flags, ...reviewer.flags, 'x'],
      { cwd },
    )
    expect(reviewer.grants()).toEqual([undefined, [{ kind: 'write', path: join(out, 'a.txt') }]])
    expect(commands(ended).map(({ status }) => status)).toEqual(['failed', 'completed'])
    expect(result(ended)).toContain(`The sandbox may have refused access to ${out}/a.txt`)
  })

  test.each(['/', process.env['HOME'] ?? '/root'])('never gets all of %s', async (path) => {
    const reviewer = answering('allow')
    const ended = await exec(
      [[run('true', { ...escalated, additional_permissions: { write: [path] } })], [say('ok')]],
      [...onRequest, ...reviewer.flags, 'x'],
      { cwd: repository(), env: { HOME: path === '/' ? '/root' : path } },
    )
    expect(reviewer.grants()).toEqual([])
    expect(commands(ended)).toMatchObject([{ status: 'declined', verdict: { decided_by: 'escalation' } }])
  })
})

describe.skipIf(needsBubblewrap())('a rule that the model suggests', () => {
  const untrusted = ['--json', '--ask-for-approval', 'untrusted']
  const suggesting = (cmd: string, words: readonly string[]) =>
    run(cmd, { sandbox_permissions: 'require_escalated', justification: 'often needed', prefix_rule: words })

  test('applies to the whole run only if the reviewer says so', async () => {
    const cwd = repository()
    const once = answering('allow')
    await exec(
      [[suggesting('touch a', ['touch'])], [run('touch b')], [say('ok')]],
      [...untrusted, ...once.flags, 'x'],
      {
        cwd,
      },
    )
    expect(once.rules()).toEqual(['prefix_rule(pattern = ["touch"], decision = "allow")', undefined])
    const always = answering('allow', 'run')
    const ended = await exec(
      [[suggesting('touch a', ['touch'])], [run('touch b'), run('mkdir c')], [say('ok')]],
      [...untrusted, ...always.flags, 'x'],
      { cwd },
    )
    expect(always.rules()).toHaveLength(2)
    expect(commands(ended)[1]).toMatchObject({
      verdict: { decision: 'allow', rule: 'approved in this run:1 allow touch' },
    })
  })

  test.each([
    ['python3 -c 1', ['python3']],
    ['git status', ['git']],
    ['npm run x', ['npm', 'run']],
    ['touch a', ['mkdir']],
    ['touch a; rm b', ['touch']],
    ['touch a > b', ['touch']],
  ])('%s with %j is not taken up', async (cmd, words) => {
    const reviewer = answering('deny')
    await exec([[suggesting(cmd, words)], [say('ok')]], [...untrusted, ...reviewer.flags, 'x'], { cwd: repository() })
    expect(reviewer.rules()).toEqual([undefined])
  })

  test.skipIf(needsScript())('is shown to a person, who can let it hold for the run or for good', async () => {
    const home = tempDir()
    const { shown } = await execAtTerminal(
      [[suggesting('touch a', ['touch'])], [run('touch b')], [say('ok')]],
      ['--ask-for-approval', 'untrusted', 'x'],
      [{ after: '[y/r/c/a/n/s] ', text: 'c\n' }],
      { cwd: repository(), home },
    )
    expect(shown).toContain('prefix_rule(pattern = ["touch"], decision = "allow")')
    expect(shown.split('The agent asks for approval')).toHaveLength(2)
    expect(existsSync(join(home, '.config/portcullis/rules/accepted.rules'))).toBe(false)
  })
})
