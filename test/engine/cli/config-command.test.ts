import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileJsonSchema } from '../../../engine/core/json-schema.ts'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const userFile = '.config/portcullis/config.toml'

test('agent config schema prints a JSON Schema of the file, with a description of each key', async () => {
  const { stdout, code } = await agent(['config', 'schema'], { cwd: tempDir(), home: tempDir() })
  const schema = JSON.parse(stdout) as {
    readonly properties: Readonly<Record<string, { readonly description?: string }>>
  }
  expect(code).toBe(0)
  expect(schema.properties['sandbox_mode']).toMatchObject({
    description: expect.stringContaining('what commands may access'),
    enum: ['read-only', 'workspace-write', 'danger-full-access'],
  })
  const validate = compileJsonSchema(schema) as (value: unknown) => readonly string[]
  expect(validate({ sandbox_mode: 'read-only', profiles: { ci: { approval_policy: 'never' } } })).toEqual([])
  expect(validate({ sandbox_mod: 'read-only' })).not.toEqual([])
})

describe('agent config show', () => {
  const user = [
    'model = "mine"',
    '',
    '[profiles.ci]',
    'approval_policy = "never"',
    '',
    '[shell_environment_policy.set]',
    'API_TOKEN = "t0ps3cret"',
    '',
    '[model_providers.corp]',
    'base_url = "https://me:t0ps3cret@gateway.example.com/v1?key=t0ps3cret"',
    'http_headers = { "X-Key" = "t0ps3cret" }',
    'auth = { command = "print-key", args = ["t0ps3cret"] }',
    '',
    '[mcp_servers.tool]',
    'command = "serve"',
    'args = ["--token", "t0ps3cret"]',
    'env = { TOKEN = "t0ps3cret" }',
    '',
    '[mcp_servers.far]',
    'url = "https://mcp.example.com/?key=t0ps3cret"',
    'http_headers = { Authorization = "Bearer t0ps3cret" }',
  ].join('\n')

  test('prints each value with its source', async () => {
    const home = tempDir({ [userFile]: user })
    const cwd = repository({ '.portcullis/config.toml': 'model_reasoning_effort = "high"\n' })
    const args = ['config', 'show', '--trust', '-p', 'ci', '-c', 'tool_concurrency=2', '-s', 'read-only']
    const { code, stdout } = await agent(args, { cwd, home })
    expect(code).toBe(0)
    const lines = stdout.split('\n').map((line) => line.replace(/ +=/, ' ='))
    expect(lines).toEqual(
      expect.arrayContaining([
        `model = "mine"  # ${home}/${userFile}:1`,
        `approval_policy = "never"  # profile, ${home}/${userFile}:4`,
        `model_reasoning_effort = "high"  # repository, ${cwd}/.portcullis/config.toml:1`,
        'tool_concurrency = 2  # -c',
        'sandbox_mode = "read-only"  # --sandbox',
        'shell_environment_policy.inherit = "core"  # default',
        '# the repository is trusted',
      ]),
    )
  })

  test('prints the permission lists of every layer, since they add up', async () => {
    const home = tempDir({ [userFile]: '[permissions]\ndeny = ["Read(./secrets/**)"]\n' })
    const cwd = repository({ '.portcullis/config.toml': '[permissions]\nask = ["Bash(git push *)"]\n' })
    const { stdout } = await agent(['config', 'show', '--trust'], { cwd, home })
    expect(stdout).toContain(`permissions.deny = ["Read(./secrets/**)"]  # ${home}/${userFile}\n`)
    expect(stdout).toContain(`permissions.ask = ["Bash(git push *)"]  # ${cwd}/.portcullis/config.toml\n`)
  })

  test('prints no secret', async () => {
    const options = { cwd: repository(), home: tempDir({ [userFile]: user }) }
    for (const args of [
      ['config', 'show'],
      ['config', 'show', '--json'],
    ]) {
      const { stdout } = await agent(args, options)
      expect(stdout).not.toContain('t0ps3cret')
      expect(stdout).toContain('shell_environment_policy.set.API_TOKEN')
      expect(stdout).toContain('https://gateway.example.com/v1')
    }
  })

  test('as JSON has keys, sources and lines, and ignored keys', async () => {
    const home = tempDir({ [userFile]: '# first\nsandbox_mode = "read-only"\n' })
    const cwd = repository({ '.portcullis/config.toml': 'model = "x"\n' })
    const { stdout } = await agent(['config', 'show', '--json'], { cwd, home })
    expect(JSON.parse(stdout)).toMatchObject({
      trusted: false,
      settings: {
        sandbox_mode: { value: 'read-only', source: 'user', place: `${home}/${userFile}`, line: 2 },
        model: { source: 'default' },
      },
      ignored: [{ source: `${cwd}/.portcullis/config.toml`, keys: ['model'] }],
    })
  })

  test('fails like a run would', async () => {
    const home = tempDir({ [userFile]: 'modle = "x"\n' })
    expect(await agent(['config', 'show'], { cwd: repository(), home })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `agent: ${home}/${userFile}:1: unknown key 'modle'; did you mean 'model'?\n`,
    })
  })
})

describe('agent trust', () => {
  test('records that the surrounding repository is trusted, and leaves the rest of the file unchanged', async () => {
    const home = tempDir({ [userFile]: '# mine\nmodel = "a"' })
    const root = repository({ 'deep/er/.keep': '', '.portcullis/config.toml': 'model = "theirs"\n' })
    const cwd = join(root, 'deep/er')
    expect((await agent(['trust'], { cwd, home })).code).toBe(0)
    expect(readFileSync(join(home, userFile), 'utf8')).toBe(
      `# mine\nmodel = "a"\n\n[projects."${root}"]\ntrust_level = "trusted"\n`,
    )
    const { stdout } = await agent(['config', 'show'], { cwd, home })
    expect(stdout).toContain('"theirs"')
    const listed = await agent(['trust', '--list'], { cwd, home })
    expect(listed.stdout).toBe(`trusted  ${root}  (${home}/${userFile})\n`)
  })

  test('changes nothing the second time', async () => {
    const home = tempDir()
    const cwd = repository()
    await agent(['trust'], { cwd, home })
    const once = readFileSync(join(home, userFile), 'utf8')
    expect(await agent(['trust'], { cwd, home })).toMatchObject({ code: 0 })
    expect(readFileSync(join(home, userFile), 'utf8')).toBe(once)
    expect(statSync(join(home, userFile)).mode & 0o777).toBe(0o600)
  })

  test('does not override the file', async () => {
    const cwd = repository()
    const text = `[projects."${cwd}"]\ntrust_level = "untrusted"\n`
    const home = tempDir({ [userFile]: text })
    const ended = await agent(['trust'], { cwd, home })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(`${userFile}:2: marks ${cwd} as untrusted`)
    expect(readFileSync(join(home, userFile), 'utf8')).toBe(text)
  })

  test('keeps a file that is a symlink a symlink', async () => {
    const home = tempDir({ '.config/portcullis/.keep': '', 'dotfiles/config.toml': 'model = "a"\n' })
    symlinkSync(join(home, 'dotfiles/config.toml'), join(home, userFile))
    await agent(['trust'], { cwd: repository(), home })
    expect(readFileSync(join(home, 'dotfiles/config.toml'), 'utf8')).toContain('trusted')
  })

  test('refuses a file that it can’t extend, and says what to write', async () => {
    const text = 'projects = { "/x" = { trust_level = "trusted" } }\n'
    const home = tempDir({ [userFile]: text })
    const ended = await agent(['trust'], { cwd: repository(), home })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('add this yourself:\n  [projects."')
    expect(readFileSync(join(home, userFile), 'utf8')).toBe(text)
    expect(existsSync(join(home, '.config/portcullis/rules'))).toBe(false)
  })

  test('can’t be requested by a repository for itself', async () => {
    const home = tempDir()
    const cwd = repository()
    writeFileSync(join(cwd, 'config.toml'), `[projects."${cwd}"]\ntrust_level = "trusted"\n`)
    const { stdout } = await agent(['config', 'show'], { cwd, home, env: { XDG_CONFIG_HOME: '.' } })
    expect(stdout).toContain('# the repository is not trusted')
  })
})
