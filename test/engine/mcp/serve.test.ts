import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say, startMockOpenAI } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { client, textOf } from './served-client.ts'

describe.skipIf(needsBubblewrap())('agent mcp-server', () => {
  test('offers three tools', async () => {
    const { tools } = await (await client([], repository())).listTools()
    expect(tools.map(({ name }) => name)).toEqual(['exec', 'sandboxed_shell', 'apply_patch'])
  })

  test('runs a command in the sandbox', async () => {
    const cwd = repository()
    const outside = tempDir()
    const other = await client([], cwd)
    const command = `echo in > in.txt; echo out > ${outside}/out.txt`
    const result = await other.callTool({ name: 'sandboxed_shell', arguments: { command } })
    expect([existsSync(join(cwd, 'in.txt')), existsSync(join(outside, 'out.txt'))]).toEqual([true, false])
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toContain('Process exited with code')
  })

  test('lets commands reach the services that its options name', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const other = await client(['--service', `web=localhost:${port}`], repository())
    const command = `bash -c 'cat < /dev/tcp/web/${port}'`
    expect(textOf(await other.callTool({ name: 'sandboxed_shell', arguments: { command } }))).toContain('hello')
  })

  test('asks the user’s hooks, with the names that scripts use', async () => {
    const hooks = {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [{ type: 'command', command: 'grep -q forbidden && { echo not that >&2; exit 2; }; exit 0' }],
        },
        { matcher: 'Write', hooks: [{ type: 'command', command: 'echo no files >&2; exit 2' }] },
      ],
    }
    const home = tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })
    const cwd = repository()
    const other = await client([], cwd, { HOME: home })
    const shell = (command: string) => other.callTool({ name: 'sandboxed_shell', arguments: { command } })
    expect(await shell('touch made')).toMatchObject({ content: expect.anything() })
    expect(textOf(await shell('touch forbidden'))).toContain('Refused by a hook: not that')
    const patch = '*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch'
    expect(textOf(await other.callTool({ name: 'apply_patch', arguments: { patch } }))).toContain('no files')
    expect(['made', 'forbidden', 'patched'].map((name) => existsSync(join(cwd, name)))).toEqual([true, false, false])
  })

  test('asks the Guardian, who can ask nobody', async () => {
    const other = await client(['--ask-for-approval', 'untrusted'], repository())
    const result = await other.callTool({ name: 'sandboxed_shell', arguments: { command: 'touch x' } })
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toContain('Refused by the Guardian')
  })

  test('applies a patch, all or nothing', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const other = await client([], cwd)
    const patch = (old: string) =>
      `*** Begin Patch\n*** Add File: b.txt\n+new\n*** Update File: a.txt\n@@\n-${old}\n+two\n*** End Patch\n`
    expect(await other.callTool({ name: 'apply_patch', arguments: { patch: patch('three') } })).toMatchObject({
      isError: true,
    })
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
    expect(await other.callTool({ name: 'apply_patch', arguments: { patch: patch('one') } })).toMatchObject({
      isError: false,
    })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
  })

  test('lets an agent do a task, and continue it', async () => {
    const cwd = repository()
    const mock = await startMockOpenAI({
      replies: (_, index) =>
        [[call('exec_command', { cmd: 'touch made' })], [say('made it')], [say('again')]][index] ?? [],
    })
    onTestFinished(() => mock.close())
    const args = ['-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`]
    const other = await client(args, cwd, { OPENAI_API_KEY: 'sk-test' })
    const first = await other.callTool({ name: 'exec', arguments: { prompt: 'make it' } })
    expect(first).toMatchObject({ isError: false, structuredContent: { message: 'made it', exit_code: 0 } })
    expect(existsSync(join(cwd, 'made'))).toBe(true)
    const { thread_id: thread } = first['structuredContent'] as { thread_id: string }
    const second = await other.callTool({ name: 'exec', arguments: { prompt: 'once more', thread_id: thread } })
    expect(second).toMatchObject({ structuredContent: { message: 'again', thread_id: thread } })
    expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain('make it')
  })

  test('lets an agent continue no task of another folder, and none by a part of its id', async () => {
    const mock = await startMockOpenAI({ replies: () => [say('a secret of another project')] })
    onTestFinished(() => mock.close())
    const home = tempDir()
    const env = { HOME: home, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: mock.baseUrl }
    const mine = await client([], repository(), env)
    const begun = await mine.callTool({ name: 'exec', arguments: { prompt: 'go' } })
    const { thread_id: id } = begun.structuredContent as { readonly thread_id: string }
    const other = await client([], repository(), env)
    for (const thread_id of [id, id.slice(-12), id.slice(0, 8), `../sessions/${id}`, '../../..', 'last']) {
      const resumed = await other.callTool({ name: 'exec', arguments: { prompt: 'what did you say?', thread_id } })
      expect([thread_id, resumed.isError]).toEqual([thread_id, true])
      expect(textOf(resumed)).not.toContain('a secret')
    }
    expect(mock.requests).toHaveLength(1)
  })

  test('answers an unknown tool or wrong arguments with the right ones', async () => {
    const other = await client([], repository())
    await expect(other.callTool({ name: 'shell', arguments: {} })).rejects.toThrow(
      'The tools are: exec, sandboxed_shell, apply_patch',
    )
    expect(textOf(await other.callTool({ name: 'sandboxed_shell', arguments: { cmd: 'ls' } }))).toContain('command')
  })
})
