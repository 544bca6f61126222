import { execa } from 'execa'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, say, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { repository } from '../support/workspace.ts'

const root = new URL('../../', import.meta.url).pathname
const examples = join(root, 'fixtures/examples')

type Setting = { readonly cwd?: string; readonly input?: string; readonly replies?: readonly Reply[] }

/** Runs an example as its user would, with the built package, its own home directory, and a model on loopback. */
async function run(name: string, args: readonly string[], { cwd = tempDir(), input = '', replies = [] }: Setting = {}) {
  const model = await startMockOpenAI({ replies })
  onTestFinished(() => model.close())
  const env = { PATH: process.env['PATH'], HOME: tempDir(), OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none' }
  const { exitCode, stdout, stderr } = await execa(process.execPath, [join(examples, `${name}.ts`), ...args], {
    ...{ cwd, env, input, extendEnv: false, reject: false },
  })
  return { exitCode, stdout, stderr, requests: model.requests }
}

describe('the example', () => {
  test('apply-a-patch applies a patch, and says why one does not fit', async () => {
    const cwd = tempDir({ 'a.txt': 'one\n' })
    const patch = (line: string) => `*** Begin Patch\n*** Update File: a.txt\n@@\n-${line}\n+two\n*** End Patch\n`
    expect(await run('apply-a-patch', [], { cwd, input: patch('one') })).toMatchObject({
      exitCode: 0,
      stdout: 'M a.txt',
    })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
    const failed = await run('apply-a-patch', [], { cwd, input: patch('three') })
    expect(failed).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('a.txt') })
  })

  test.skipIf(needsBubblewrap())('run-a-confined-command runs one that may write in its folder alone', async () => {
    const [cwd, outside] = [tempDir(), join(tempDir(), 'outside')]
    const script = `echo in > in.txt; echo out > ${outside}; echo said; exit 4`
    const ended = await run('run-a-confined-command', ['sh', '-c', script], { cwd })
    expect(ended).toMatchObject({ exitCode: 4, stdout: 'said' })
    expect([existsSync(join(cwd, 'in.txt')), existsSync(outside)]).toEqual([true, false])
  })

  test('check-a-command distinguishes a forbidden command from a harmless one', async () => {
    const { exitCode, stdout } = await run('check-a-command', ['cd x && env git push', 'ls'])
    const [push, list] = stdout.split('\n')
    expect(exitCode).toBe(0)
    expect(push).toMatch(/^cd x && env git push: deny, by rules\. .*A person publishes\./)
    expect(list).toMatch(/^ls: allow, by /)
  })

  test.skipIf(needsBubblewrap())(
    'agent-with-a-tool offers the tool, runs it, and prints the final message',
    async () => {
      const replies = [[call('count_lines', { path: 'README.md' }, 'c')], [say('It has 3 lines.')]]
      const cwd = repository({ 'README.md': 'a\nb\nc\n' })
      const { exitCode, stdout, requests } = await run('agent-with-a-tool', ['How long?'], { cwd, replies })
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'It has 3 lines.' })
      expect(JSON.stringify(requests[0]?.body)).toContain('count_lines')
      expect(JSON.stringify(requests[1]?.body)).toContain('3 lines')
    },
  )

  test.skipIf(needsBubblewrap())('agent-with-a-reviewer answers what is asked, and prints the result', async () => {
    const replies = [
      [call('exec_command', { cmd: 'npm --version' }, 'a')],
      [call('exec_command', { cmd: 'touch made' }, 'b')],
      [say(JSON.stringify({ done: false, why: 'touch is denied' }))],
    ]
    const cwd = repository()
    const { exitCode, stdout, stderr } = await run('agent-with-a-reviewer', [], { cwd, replies })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'not done: touch is denied' })
    expect(stderr).toMatch(/^denied: [^\n]*touch made[^\n]*: The reviewer denied it\.$/)
  })
})

test('each example is run above', () => {
  const text = readFileSync(import.meta.filename, 'utf8')
  const names = readdirSync(examples).flatMap((file) => (file.endsWith('.ts') ? [file.slice(0, -3)] : []))
  expect(names.filter((name) => !text.includes(`run('${name}'`))).toEqual([])
})

test('the README of the library shows one of them unchanged', () => {
  const [, ...lines] = readFileSync(join(examples, 'agent-with-a-tool.ts'), 'utf8').split('\n')
  expect(readFileSync(join(root, 'engine/library/README.md'), 'utf8')).toContain(
    `\`\`\`ts\n${lines.join('\n')}\`\`\`\n`,
  )
})
