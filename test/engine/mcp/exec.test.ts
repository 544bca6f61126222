import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { liar, reference } from './servers-support.ts'

const modules = new URL('../../../node_modules', import.meta.url).pathname
/** Shown in the sandbox although they may lie in a place that is private to it. */
const visible = JSON.stringify([modules, dirname(process.execPath)])

/** Runs `agent exec --json` with a configuration in TOML. */
async function withServers(
  toml: string,
  replies: Parameters<typeof exec>[0],
  options: { readonly cwd?: string; readonly args?: readonly string[] } = {},
): Promise<Exec & { readonly cwd: string }> {
  const home = tempDir({ '.config/portcullis/config.toml': `${toml}\n[sandbox_read]\nallow = ${visible}\n` })
  const cwd = options.cwd ?? repository()
  const args = ['--json', ...(options.args ?? []), 'go']
  return { ...(await exec(replies, args, { cwd, home, env: { TOKEN: 'of-the-test' } })), cwd }
}

const everything = `[mcp_servers.everything]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(reference('everything'))}]
startup_timeout_sec = 30
`
const items = ({ events }: Exec) => events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))

describe.skipIf(needsBubblewrap())('MCP servers in a run', () => {
  test('their tools are offered, and a call goes through the Guardian', async () => {
    const ended = await withServers(everything, [[call('mcp__everything__echo', { message: 'hi' })], [say('done')]])
    expect(JSON.stringify(ended.requests[0]?.body)).toContain('mcp__everything__echo')
    // A tool that may write is asked about, and nobody is there.
    expect(items(ended)[0]).toMatchObject({
      type: 'mcp_tool_call',
      server: 'everything',
      tool: 'echo',
      arguments: { message: 'hi' },
      status: 'failed',
      verdict: { decision: 'deny' },
    })
  })

  test('a call of a server that the user trusts to know what only reads is made', async () => {
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: [
        { name: 'look', inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }, annotations: { readOnlyHint: true } },
      ] } })
      send({ id, result: { content: [{ type: 'text', text: 'seen ' + params.arguments.at }] } })`)
    const toml = `[mcp_servers.eye]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["--input-type=module", "-e", ${JSON.stringify(source)}]\n`
    const replies = [[call('mcp__eye__look', { at: 'the sea' })], [call('mcp__eye__look', {})], [say('done')]]
    const trusted = await withServers(`${toml}trusted = true\n`, replies)
    expect(items(trusted)).toMatchObject([
      { type: 'mcp_tool_call', status: 'completed', result: { content: [{ type: 'text', text: 'seen the sea' }] } },
      { type: 'tool_call', status: 'failed' },
      { type: 'agent_message' },
    ])
    expect(JSON.stringify(trusted.requests[2]?.body)).toContain("must have required property 'at'")
    const believed = await withServers(toml, replies)
    expect(items(believed)[0]).toMatchObject({ status: 'failed', verdict: { decision: 'deny' } })
  })

  test('one that is required and not there ends the run before it starts, with exit code 2', async () => {
    const ended = await withServers('[mcp_servers.gone]\ncommand = "/nowhere/server"\nrequired = true\n', [[say('x')]])
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
    expect(ended.stderr).toContain('the MCP server gone is required and not there')
  })

  test('one that is not there is named, and the run goes on', async () => {
    const ended = await withServers('[mcp_servers.gone]\ncommand = "/nowhere/server"\n', [[say('x')]])
    expect(ended.code).toBe(0)
    expect(items(ended)[0]).toMatchObject({ type: 'error', message: expect.stringContaining('gone is not there') })
  })

  test("a repository's .mcp.json starts nothing unless it is trusted, and is confined even then", async () => {
    const outside = tempDir()
    const script = `echo here > started; echo there > ${outside}/started; sleep 1`
    const json = JSON.stringify({ mcpServers: { mine: { command: '/bin/sh', args: ['-c', script] } } })
    for (const [args, started] of [
      [[], false],
      [['--trust'], true],
    ] as const) {
      const cwd = repository({ '.mcp.json': json })
      await withServers('', [[say('x')]], { cwd, args })
      expect(existsSync(join(cwd, 'started'))).toBe(started)
    }
    expect(existsSync(join(outside, 'started'))).toBe(false)
  })

  test('nothing of a server is left when the run is over', async () => {
    const toml = `[mcp_servers.stays]\ncommand = "/bin/sh"\nargs = ["-c", "echo $$ > pid; trap '' TERM; while :; do sleep 1; done"]\nstartup_timeout_sec = 1\n`
    const mark = `stays-${process.pid}`
    const ended = await withServers(toml.replace('while', `: ${mark}; while`), [[say('x')]])
    expect(readFileSync(join(ended.cwd, 'pid'), 'utf8')).not.toBe('')
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(mark)
  })
})
