import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { mockOf } from '../codex/door.ts'
import { command, keyed, startOfAgent } from './door.ts'
import { whyNoClients } from './schema.ts'

const test = testUnlessOnCi(whyNoClients())
const program = new URL('../node_modules/acpx/dist/cli.js', import.meta.url).pathname

/** Runs a command line of acpx with our agent. */
async function acpx(args: readonly string[], replies: readonly Reply[], cwd: string, home = tempDir()) {
  const mock = await mockOf(replies)
  const words = [program, '--agent', startOfAgent.join(' '), '--cwd', cwd, '--ttl', '1', ...args]
  const child = spawn(process.execPath, words, { cwd, env: keyed(mock, home) })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.end()
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, stdout, stderr, requests: mock.requests }
}

describe.skipIf(needsBubblewrap())('acpx, with the SDK 1.x', () => {
  test('a prompt is answered', async () => {
    const { code, stdout } = await acpx(['exec', 'hello'], [[say('Hi there!')]], repository())
    expect([code, stdout]).toEqual([0, expect.stringContaining('Hi there!')])
  })

  test('everything is approved, and lands', async () => {
    const cwd = repository()
    const { code } = await acpx(['--approve-all', 'exec', 'go'], command('echo made > a'), cwd)
    expect([code, readFileSync(join(cwd, 'a'), 'utf8')]).toEqual([0, 'made\n'])
  })

  test('everything is denied', async () => {
    const cwd = repository()
    const { requests } = await acpx(['--deny-all', 'exec', 'go'], command('echo made > a'), cwd)
    expect([requests.length, existsSync(join(cwd, 'a'))]).toEqual([2, false])
  })

  test('messages are printed as JSON', async () => {
    const replies: readonly Reply[] = [[call('exec_command', { cmd: 'ls' })], [say('ok')]]
    const { code, stdout } = await acpx(['--format', 'json', 'exec', 'go'], replies, repository())
    expect(code).toBe(0)
    const updates = stdout.split('\n').filter((line) => line.includes('"tool_call_update"'))
    expect(updates.at(-1)).toContain('"completed"')
  })

  test('a session is begun, and a prompt continues it', async () => {
    const [cwd, home] = [repository(), tempDir()]
    expect((await acpx(['sessions', 'new'], [], cwd, home)).code).toBe(0)
    expect((await acpx(['prompt', 'first'], [[say('one')]], cwd, home)).stdout).toContain('one')
    await new Promise((resolve) => setTimeout(resolve, 2500))
    const second = await acpx(['prompt', 'second'], [[say('two')]], cwd, home)
    expect(second.stdout).toContain('two')
    expect(JSON.stringify(second.requests[0]?.body)).toContain('first')
  })
})
