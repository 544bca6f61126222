import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parse } from 'yaml'
import * as z from 'zod'
import { expect, onTestFinished, test } from 'vitest'
import { agent } from '../support/agent.ts'
import { call, say } from '../support/mock-model.ts'
import { startMockOpenAI } from '../support/mock-openai.ts'
import { tempDir } from '../support/temp-dir.ts'
import { repository } from '../support/workspace.ts'

const file = new URL('../../fixtures/examples/platforms/gh-aw/portcullis.md', import.meta.url)
const [, frontMatter = ''] = readFileSync(file, 'utf8').split(/^---$/m)

const [text, texts] = [z.string(), z.array(z.string())]

/** The fields of an engine that gh-aw documents. It ignores others silently, so a wrong name would have no effect. */
const Engine = z.strictObject({
  id: text,
  'display-name': text,
  description: text,
  experimental: z.boolean(),
  provider: z.strictObject({ name: z.enum(['openai', 'anthropic', 'github']) }),
  behaviors: z.strictObject({
    'secret-strategy': z.literal('universal-llm-consumer'),
    capabilities: z.strictObject({ 'max-turns': z.boolean() }),
    manifest: z.strictObject({ files: texts, 'path-prefixes': texts }),
    network: z.strictObject({
      defaults: texts,
      'provider-domains': z.record(text, text),
      'default-provider': text,
    }),
    installation: z.strictObject({
      'package-manager': z.literal('npm'),
      'package-name': text,
      version: text,
      'step-name': text,
      'binary-name': text,
      'include-node-setup': z.boolean(),
      cooldown: z.boolean(),
      'verify-command': text,
      'verify-step-name': text,
      'docs-url': z.url(),
    }),
    execution: z.strictObject({
      'command-name': text,
      args: texts,
      'step-name': text,
      'model-env-var': text,
      'mcp-config-env-var': text,
      'write-timestamp': z.boolean(),
      'provider-env-mode': z.literal('universal-llm-consumer'),
      env: z.record(text, text),
    }),
    mcp: z.strictObject({ 'config-path': text, 'config-adapter': text }),
    'harness-script': text,
    'log-parser': text,
  }),
})

const { behaviors } = z.strictObject({ engine: Engine }).parse(parse(frontMatter)).engine
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
}

/** Runs the harness as gh-aw does, with a program that writes down what it gets. */
function harness(env: Readonly<Record<string, string>>, modules: Readonly<Record<string, string>> = {}) {
  const folder = tempDir({ 'harness.cjs': behaviors['harness-script'], prompt: 'do it', ...modules })
  const program = join(folder, 'agent')
  const note = `const { readFileSync, writeFileSync } = require('fs')
writeFileSync('${folder}/seen', JSON.stringify({ args: process.argv.slice(2), stdin: readFileSync(0, 'utf8'), env: process.env }))
process.exitCode = 4`
  writeFileSync(program, `#!${process.execPath}\n${note}\n`)
  chmodSync(program, 0o755)
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'harness.cjs'), program, 'exec', '--json'], {
    env: { GH_AW_PROMPT: join(folder, 'prompt'), PORTCULLIS_MODEL: 'openai/gpt-5.5', ...env },
    encoding: 'utf8',
  })
  const seen = (): { args: readonly string[]; stdin: string; env: Readonly<Record<string, string>> } =>
    JSON.parse(readFileSync(join(folder, 'seen'), 'utf8')) as never
  return { status, stderr, seen }
}

/** What the log parser makes of a log. */
function parsed(log: string) {
  const parseLog = new Function(`${behaviors['log-parser']}; return parseLog`)() as (log: string) => {
    readonly markdown: string
    readonly logEntries: readonly { readonly type: string }[]
    readonly mcpFailures: readonly string[]
    readonly maxTurnsHit: boolean
  }
  return parseLog(log)
}

test('the engine installs this package, and starts its program with options that it has', async () => {
  expect(behaviors.installation['package-name']).toBe(manifest.name)
  expect(Object.keys(manifest.bin)).toContain(behaviors.execution['command-name'])
  const { stdout } = await agent(['exec', '--help', 'all'], { cwd: tempDir(), home: tempDir() })
  for (const option of behaviors.execution.args.filter((each) => each.startsWith('--')))
    expect(stdout).toContain(option)
})

test('the harness gives the program its prompt, model and budget, and ends with its exit code', () => {
  const { status, seen } = harness({ GH_AW_MAX_TURNS: '7' })
  const { args, stdin } = seen()
  expect([status, stdin, args]).toEqual([4, 'do it', ['exec', '--json', '--model', 'gpt-5.5', '--max-turns', '7']])
})

test('the harness reaches the model through the firewall, with a key that is none', () => {
  const reflect = `exports.fetchAWFReflect = async () => ({ ok: true, reflectData: { endpoints: [{ configured: true, provider: 'openai', models_url: 'http://proxy/v1/models' }] } })
exports.deriveBaseUrlFromModelsURL = url => url.replace('/models', '')
exports.normalizeReflectProviderName = name => name`
  const { env } = harness({ AWF_REFLECT_ENABLED: '1' }, { 'awf_reflect.cjs': reflect }).seen()
  expect([env['OPENAI_BASE_URL'], env['OPENAI_API_KEY']]).toEqual(['http://proxy/v1', 'awf-proxy'])
  const none = reflect.replace("'openai'", "'google'")
  const { status, stderr } = harness({ AWF_REFLECT_ENABLED: '1' }, { 'awf_reflect.cjs': none })
  expect([status, stderr]).toEqual([1, expect.stringContaining('no endpoint for openai') as string])
})

test('servers of the gateway reach the program, their tokens only in its environment', () => {
  const folder = tempDir({
    'adapter.cjs': behaviors.mcp['config-adapter'],
    'out.json': JSON.stringify({
      mcpServers: {
        github: { url: 'http://0.0.0.0:80/mcp/github', headers: { Authorization: 'token-1' } },
        cli: { url: 'http://0.0.0.0:80/mcp/cli' },
      },
    }),
  })
  const config = join(folder, 'mcp.json')
  const env = { MCP_GATEWAY_OUTPUT: join(folder, 'out.json'), MCP_GATEWAY_PORT: '8080', PORTCULLIS_MCP_CONFIG: config }
  const adapted = spawnSync(process.execPath, [join(folder, 'adapter.cjs')], {
    env: { ...env, GH_AW_MCP_CLI_SERVERS: '["cli"]' },
  })
  expect(adapted.status).toBe(0)
  const seen = harness({ GH_AW_MCP_CONFIG: config }).seen()
  expect(seen.args.slice(4)).toEqual([
    ...['-c', 'mcp_servers.github.url="http://host.docker.internal:8080/mcp/github"'],
    ...['-c', 'mcp_servers.github.env_http_headers.Authorization="PORTCULLIS_MCP_HEADER_0"'],
    ...['-c', 'permissions.allow=["mcp__github"]'],
  ])
  expect(seen.env['PORTCULLIS_MCP_HEADER_0']).toBe('token-1')
})

test('the parser reads the log of a run of the built program', async () => {
  const replies = [[call('exec_command', { cmd: 'echo hello' })], [say('All is well.')]]
  const mock = await startMockOpenAI({ replies, ids: 'gh' })
  onTestFinished(() => mock.close())
  const { stdout, code } = await agent(['exec', '--json', '--externally-sandboxed', '-m', 'gpt-5.5', 'go'], {
    cwd: repository(),
    home: tempDir(),
    env: { OPENAI_API_KEY: 'sk-test-key', OPENAI_BASE_URL: mock.baseUrl },
  })
  expect(code).toBe(0)
  const { markdown, logEntries, mcpFailures, maxTurnsHit } = parsed(`[INFO] firewall\n${stdout}half a li`)
  expect([mcpFailures, maxTurnsHit]).toEqual([[], false])
  expect(markdown).toContain('The run ended well.')
  expect(markdown).toContain('All is well.')
  expect(logEntries.map(({ type }) => type)).toEqual(expect.arrayContaining(['system', 'assistant', 'user', 'result']))
  expect(JSON.stringify(logEntries)).toContain('hello')
  expect(logEntries.at(-1)).toMatchObject({ subtype: 'success', is_error: false, usage: { input_tokens: 0 } })
})

test('the parser tells a budget that ran out, and a run that was cut off', async () => {
  const mock = await startMockOpenAI({ replies: () => [call('exec_command', { cmd: 'ls' }, `call_${Math.random()}`)] })
  onTestFinished(() => mock.close())
  const { stdout } = await agent(['exec', '--json', '--externally-sandboxed', '--max-turns', '1', 'go'], {
    cwd: repository(),
    home: tempDir(),
    env: { OPENAI_API_KEY: 'sk-test-key', OPENAI_BASE_URL: mock.baseUrl },
  })
  expect(parsed(stdout)).toMatchObject({ maxTurnsHit: true, markdown: expect.stringContaining('budget') as string })
  const cut = stdout.slice(0, stdout.indexOf('"turn.failed"'))
  expect(parsed(cut).markdown).toContain('cut off')
})
