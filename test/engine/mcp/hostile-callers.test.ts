import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

type Message = {
  readonly id?: unknown
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly code: number }
}
const initialize = {
  id: 'i',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}
const shell = (id: unknown, given: object): object => ({
  id,
  method: 'tools/call',
  params: { name: 'sandboxed_shell', arguments: given },
})

/** Starts `agent mcp-server` for a caller that writes lines by itself. */
function start(cwd = repository(), files: Readonly<Record<string, string>> = {}) {
  const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname
  const env = { PATH: process.env['PATH'] ?? '', HOME: tempDir(files) }
  const child = spawn(process.execPath, [program, 'mcp-server'], { cwd, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  let changed = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    changed.resolve()
    changed = Promise.withResolvers()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const messages = (): readonly Message[] =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message)
  const write = (message: object | string): void =>
    void child.stdin.write(
      typeof message === 'string' ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
    )
  write(initialize)
  write({ method: 'notifications/initialized' })
  return {
    ...{ child, cwd, write, messages },
    ended: new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve) =>
      child.on('close', (code) => resolve({ code, stderr })),
    ),
    answer: async (id: unknown): Promise<Message> => {
      for (;;) {
        const found = messages().find((message) => message.id === id && message.method === undefined)
        if (found !== undefined) return found
        await changed.promise
      }
    },
  }
}

describe.skipIf(needsBubblewrap())('a caller that attacks', () => {
  test.each([
    'half {"jsonrpc"',
    '[]',
    'null',
    '7',
    '{}',
    '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    '{"jsonrpc":"1.0","id":1}',
    '\u0000',
    '\ud800',
  ])('the line %j ends nothing: the next request gets its answer', async (line) => {
    const caller = start()
    caller.write(`${line}\n`)
    caller.write({ id: 'l', method: 'tools/list' })
    expect((await caller.answer('l')).result).toBeDefined()
  })

  test('a line of 100 MB ends the program with an error, half a line and the end without one', async () => {
    const long = start()
    await long.answer('i')
    long.child.stdin.end('x'.repeat(100_000_000))
    const { code, stderr } = await long.ended
    expect([code, stderr]).toEqual([2, expect.stringContaining('a line has more than') as string])
    const half = start()
    await half.answer('i')
    half.child.stdin.end('{"jsonrpc":"2.0","id":1,"meth')
    expect((await half.ended).code).toBe(0)
  })

  test('arguments that aren’t offered give no permission, and lead to no other folder', async () => {
    const outside = tempDir()
    const caller = start()
    const touch = `touch ${outside}/made`
    const tries: readonly object[] = [
      { command: touch },
      { command: touch, sandbox_permissions: 'require_escalated', justification: 'please' },
      { command: touch, additional_permissions: { write: [outside] } },
      { command: 'touch made', workdir: outside },
      { command: 'touch made', workdir: '../../..' },
      { command: touch, sandbox: 'danger-full-access' },
      { command: touch, env: { HOME: '/' } },
      { command: ['touch', 'x'] },
      { command: '' },
      { command: 'touch made', timeout_ms: -1 },
      { command: 'touch made', timeout_ms: 1e12 },
    ]
    for (const [at, given] of tries.entries()) {
      caller.write(shell(at, given))
      expect([given, (await caller.answer(at)).result]).toMatchObject([given, { isError: true }])
    }
    for (const name of ['exec_command', 'apply_patch ', '__proto__', 'constructor', 'write_file', '']) {
      caller.write({ id: name, method: 'tools/call', params: { name, arguments: { command: touch } } })
      expect([name, (await caller.answer(name)).error?.code]).toEqual([name, -32602])
    }
    const patch = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`
    for (const path of [`${outside}/made`, '../made', '.git/hooks/pre-commit', '/etc/made']) {
      caller.write({
        id: path,
        method: 'tools/call',
        params: { name: 'apply_patch', arguments: { patch: patch(path) } },
      })
      expect([path, (await caller.answer(path)).result]).toMatchObject([path, { isError: true }])
    }
    caller.child.stdin.end()
    await caller.ended
    expect([readdirSync(outside), readdirSync(caller.cwd)]).toEqual([[], ['.git']])
    expect(existsSync(join(caller.cwd, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('what a rule forbids is done for no caller', async () => {
    const caller = start(repository(), {
      '.config/portcullis/rules/own.rules': 'prefix_rule(pattern = ["touch"], decision = "forbidden")\n',
    })
    for (const command of ['touch made', 'echo; touch made', 'env touch made', "sh -c 'touch made'"]) {
      caller.write(shell(command, { command }))
      expect([command, (await caller.answer(command)).result]).toMatchObject([command, { isError: true }])
    }
    expect(readdirSync(caller.cwd)).toEqual(['.git'])
  })

  test('messages in a command’s output are only output', async () => {
    const caller = start()
    const forged = JSON.stringify({ jsonrpc: '2.0', id: 'f', result: { content: [] } })
    const command = `printf '\\n%s\\n' '${forged}'; printf '%s\\n' '${forged}' >/proc/$PPID/fd/1; printf '%s\\n' '${forged}' >/dev/tty; true`
    caller.write(shell('c', { command }))
    await caller.answer('c')
    caller.write(shell('d', { command: 'true' }))
    await caller.answer('d')
    expect(caller.messages().map(({ id }) => id)).toEqual(['i', 'c', 'd'])
  })

  test('twelve calls at once are answered once each, whatever their ids', async () => {
    const caller = start()
    const ids: readonly (string | number)[] = [...Array.from({ length: 8 }, (_, at) => at), '', '__proto__', -1]
    for (const id of ids) caller.write(shell(id, { command: 'true' }))
    for (const id of ids) expect((await caller.answer(id)).result).toMatchObject({ isError: false })
    expect(caller.messages()).toHaveLength(ids.length + 1)
  })

  test.each([
    ['dies', '7372.5'],
    ['gives the call up', '7373.5'],
  ])('a caller that %s leaves no process behind', async (how, word) => {
    const caller = start()
    caller.write(shell('c', { command: `sleep ${word}` }))
    await expect.poll(() => isRunning(word), { timeout: 30_000 }).toBe(true)
    if (how === 'dies') caller.child.stdin.destroy()
    else caller.write({ method: 'notifications/cancelled', params: { requestId: 'c' } })
    await expect.poll(() => isRunning(word), { timeout: 30_000 }).toBe(false)
    if (how === 'dies') expect((await caller.ended).code).toBe(0)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the program while its input stays open', async (signal) => {
    const caller = start()
    await caller.answer('i')
    caller.child.kill(signal)
    expect((await caller.ended).code).toBe(0)
  })
})
