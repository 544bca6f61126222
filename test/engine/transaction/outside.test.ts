import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const cmd = (text: string): Reply => [call('exec_command', { cmd: text })]

const startOf = ({ events: [first] }: Exec) => (first?.type === 'thread.started' ? first.config.transaction : undefined)
const endOf = ({ events }: Exec) => {
  const last = events.at(-1)
  return last?.type === 'turn.completed' || last?.type === 'turn.failed' ? last.transaction : undefined
}

/** Starts a web server on loopback, and returns its port. */
async function startServer(): Promise<number> {
  const server = createServer((_, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe.skipIf(needsBubblewrap())('what a run that is a transaction does outside of it', () => {
  test('is reported in its first lines as configured, and at its end as it happened', async () => {
    const port = await startServer()
    const home = tempDir()
    const note = join(home, 'noted')
    const hooks = JSON.stringify({
      hooks: { SessionEnd: [{ hooks: [{ type: 'command', command: `touch ${note}`, sandbox: false }] }] },
    })
    mkdirSync(join(home, '.config/portcullis'), { recursive: true })
    writeFileSync(join(home, '.config/portcullis/hooks.json'), hooks)
    writeFileSync(
      join(home, '.config/portcullis/config.toml'),
      [
        'sandbox_caches = ["npm"]',
        '[sandbox_workspace_write]',
        `allowed_hosts = [{ host = "0.0.0.0:${port}", allow_private = true }, "never.example:443"]`,
      ].join('\n'),
    )
    const ended = await exec(
      [
        {
          say: [call('exec_command', { cmd: `curl --noproxy "" -s http://0.0.0.0:${port}/` })],
          usage: { input: 1000, output: 10 },
        },
        { say: [say('done')], usage: { input: 1000, output: 10 } },
      ],
      ['--json', '--land', 'never', 'x'],
      { cwd: repository(), home },
    )
    const hook = { kind: 'hook', what: expect.stringContaining('hooks.json') }
    expect(startOf(ended)?.outside).toEqual([
      { kind: 'host', what: `0.0.0.0:${port}` },
      { kind: 'host', what: 'never.example:443' },
      { kind: 'cache', what: 'npm' },
      hook,
    ])
    expect(endOf(ended)?.outside).toEqual([
      { kind: 'host', what: `0.0.0.0:${port}` },
      hook,
      { kind: 'cache', what: 'npm' },
      { kind: 'money', what: expect.stringMatching(/^\$0\.\d+$/) },
    ])
    expect(ended.stderr).toMatch(
      /^transaction \(\w+\): no change lands before the run ends · not part of the transaction: hosts \(0\.0\.0\.0:/m,
    )
    expect(ended.stderr).toMatch(
      /effects outside the transaction, which can't be undone: hosts \(0\.0\.0\.0:\d+\), hooks \(.*\), package caches \(npm\), money \(\$0\.\d+\)/,
    )
  })

  test('includes MCP servers that run outside the sandbox', async () => {
    const server = join(tempDir({ 'server.js': 'process.stdin.resume()' }), 'server.js')
    const home = tempDir({
      '.config/portcullis/config.toml': [
        '[mcp_servers.free]',
        `command = ${JSON.stringify(process.execPath)}`,
        `args = [${JSON.stringify(server)}]`,
        'sandbox = false',
        'startup_timeout_sec = 1',
      ].join('\n'),
    })
    const ended = await exec([cmd('true'), [say('done')]], ['--json', 'x'], {
      cwd: repository(),
      home,
    })
    const free = { kind: 'mcp-server', what: 'free' }
    expect([startOf(ended)?.outside, endOf(ended)?.outside]).toEqual([[free], [free]])
  })

  test('is only the cost of the model if nothing is configured', async () => {
    const ended = await exec([cmd('echo x > a.txt'), [say('done')]], ['--json', 'x'], {
      cwd: repository(),
    })
    expect([startOf(ended)?.outside, endOf(ended)?.outside]).toEqual([undefined, []])
    expect(ended.stderr).toContain('not part of the transaction: the cost of the model')
  })
})
