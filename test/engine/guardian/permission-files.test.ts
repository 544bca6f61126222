import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const run = (cmd: string) => call('exec_command', { cmd })
const settings = (permissions: object): string => JSON.stringify({ permissions }, undefined, 2)

/** What was decided about each command and each patch, and by which rule. */
function verdicts({ events }: Exec): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'item.completed' && (event.item.type === 'command_execution' || event.item.type === 'file_change')
      ? [[event.item.verdict?.decision, event.item.verdict?.rule]]
      : [],
  )
}

const untrusted = ['--ask-for-approval', 'untrusted']

/** Performs a run with these commands, in a repository and a home directory with these files, and returns what was decided about each command. */
async function decided(
  commands: readonly string[],
  {
    files = {},
    home = {},
    flags = [],
  }: { files?: Record<string, string>; home?: Record<string, string>; flags?: readonly string[] },
) {
  const cwd = repository(files)
  const homeDirectory = tempDir(home)
  const ended = await exec([commands.map(run), [say('ok')]], ['--json', ...flags, 'x'], { cwd, home: homeDirectory })
  return { ...ended, cwd, home: homeDirectory, verdicts: verdicts(ended) }
}

describe.skipIf(needsBubblewrap())('permission lists', () => {
  const lists = settings({ deny: ['Bash(touch *)'], ask: ['Bash(git push *)'], allow: ['Bash(mkdir *)'] })

  test('of the user’s Claude settings allow nothing unless they are imported, and a notice says so', async () => {
    const { verdicts, home, events } = await decided(['touch a', 'mkdir b'], {
      home: { '.claude/settings.json': lists },
      flags: untrusted,
    })
    const source = join(home, '.claude/settings.json')
    expect(verdicts).toEqual([
      ['deny', `${source}:4 forbidden touch`],
      ['deny', undefined],
    ])
    expect(events[0]).toMatchObject({
      config: {
        ignored_config: [
          { source, keys: ['permissions.allow Bash(mkdir)'], reason: expect.stringContaining('import = ["claude"]') },
        ],
      },
    })
  })

  test('of the user’s Claude settings apply: deny refuses, ask needs a person, allow skips the question', async () => {
    const { verdicts, home } = await decided(['touch a', 'env git push origin', 'mkdir b', 'rmdir b'], {
      home: { '.claude/settings.json': lists, '.config/portcullis/config.toml': 'import = ["claude"]\n' },
      flags: untrusted,
    })
    const file = join(home, '.claude/settings.json')
    expect(verdicts).toEqual([
      ['deny', `${file}:4 forbidden touch`],
      ['deny', `${file}:7 prompt git push`],
      ['allow', `${file}:10 allow mkdir`],
      ['deny', undefined],
    ])
  })

  test('of an untrusted repository forbid and ask, but allow nothing, and a notice says so', async () => {
    const { verdicts, events, stderr, cwd } = await decided(['touch a', 'mkdir b'], {
      files: {
        '.claude/settings.json': settings({ deny: ['Bash(touch *)'] }),
        '.claude/settings.local.json': settings({ allow: ['Bash(mkdir *)', 'Edit(src/**)'] }),
      },
      flags: untrusted,
    })
    expect(verdicts).toMatchObject([
      ['deny', expect.stringContaining('.claude/settings.json:4')],
      ['deny', undefined],
    ])
    const source = join(cwd, '.claude/settings.local.json')
    expect(events[0]).toMatchObject({
      config: {
        ignored_config: [{ source, keys: ['permissions.allow Bash(mkdir)', 'permissions.allow Edit(src/**)'] }],
      },
    })
    expect(stderr).toContain('ignored: .claude/settings.local.json: permissions.allow Bash(mkdir)')
  })

  test('of a trusted repository also allow', async () => {
    const { verdicts } = await decided(['mkdir b'], {
      files: { '.claude/settings.json': settings({ allow: ['Bash(mkdir *)'] }) },
      flags: [...untrusted, '--trust'],
    })
    expect(verdicts).toMatchObject([['allow', expect.stringContaining('.claude/settings.json:4')]])
  })

  test('of our own configuration add up over its layers, so that no layer removes another’s deny', async () => {
    const { verdicts } = await decided(['touch a', 'mkdir b', 'ln -s x y'], {
      home: { '.config/portcullis/config.toml': `[permissions]\ndeny = ["Bash(touch *)"]\n` },
      files: { '.portcullis/config.toml': `[permissions]\ndeny = ['Bash(mkdir *)']\n` },
      flags: ['--trust', '-c', 'permissions.deny=["Bash(ln *)"]'],
    })
    expect(verdicts).toMatchObject([
      ['deny', expect.stringContaining('.config/portcullis/config.toml:2 forbidden touch')],
      ['deny', expect.stringContaining('.portcullis/config.toml:2 forbidden mkdir')],
      ['deny', '-c:1 forbidden ln'],
    ])
  })

  test('about files apply to commands and to patches', async () => {
    const cwd = repository({
      'secrets/key': 'k\n',
      '.claude/settings.json': settings({ deny: ['Read(./secrets/**)', 'Edit(/fixed/**)'] }),
    })
    const patch = '*** Begin Patch\n*** Add File: fixed/a\n+x\n*** End Patch\n'
    const ended = await exec([[run('cat secrets/key'), freeform('apply_patch', patch)], [say('ok')]], ['--json', 'x'], {
      cwd,
    })
    expect(verdicts(ended)).toMatchObject([
      ['deny', expect.stringContaining('Read(./secrets/**)')],
      ['deny', expect.stringContaining('Edit(/fixed/**)')],
    ])
    expect(existsSync(join(cwd, 'fixed'))).toBe(false)
  })
})

test.skipIf(needsBubblewrap())(
  'a deny of reading is not passed through a link (CVE-2025-59829, CVE-2026-25724)',
  async () => {
    const cwd = repository({
      'secrets/key': 'k\n',
      '.claude/settings.json': settings({ deny: ['Read(./secrets/**)'], allow: ['Edit(./public/**)'] }),
    })
    mkdirSync(join(cwd, 'public'))
    symlinkSync('secrets/key', join(cwd, 'innocent'))
    symlinkSync('../secrets', join(cwd, 'public/more'))
    const commands = [
      'cat innocent',
      'cat public/more/key',
      'cat < innocent',
      'cd public && cat more/key',
      'head -1 ./public/../innocent',
    ]
    const elsewhere = call('exec_command', { cmd: 'cat ../secrets/key', workdir: 'public' })
    const ended = await exec([[...commands.map(run), elsewhere], [say('ok')]], ['--json', 'x'], { cwd })
    expect(verdicts(ended).map((verdict) => (verdict as unknown[])[0])).toEqual(
      [...commands, elsewhere].map(() => 'deny'),
    )
    const patch = '*** Begin Patch\n*** Update File: public/more/key\n@@\n-k\n+x\n*** End Patch\n'
    await exec([[freeform('apply_patch', patch)], [say('ok')]], ['--json', '--trust', ...untrusted, 'x'], { cwd })
    expect(readFileSync(join(cwd, 'secrets/key'), 'utf8')).toBe('k\n')
  },
)

describe.skipIf(needsBubblewrap())('rule files of a repository', () => {
  const rules = [
    'prefix_rule(pattern = ["touch"], decision = "forbidden", justification = "Not here.")',
    'prefix_rule(pattern = ["mkdir"], decision = "allow")',
    'host_executable(name = "ln", paths = ["/tmp/evil/ln"])',
    '',
  ].join('\n')

  test('forbid without trust, but allow only with it', async () => {
    const files = { '.portcullis/rules/team.rules': rules }
    const stranger = await decided(['touch a', 'mkdir b'], { files, flags: untrusted })
    expect(stranger.verdicts).toMatchObject([
      ['deny', expect.stringContaining('team.rules:1')],
      ['deny', undefined],
    ])
    expect(stranger.events[0]).toMatchObject({
      config: { ignored_config: [{ keys: ['mkdir', 'host_executable ln'] }] },
    })
    const friend = await decided(['touch a', 'mkdir b'], { files, flags: [...untrusted, '--trust'] })
    expect(friend.verdicts).toMatchObject([
      ['deny', expect.stringContaining('team.rules:1')],
      ['allow', expect.stringContaining('team.rules:2')],
    ])
  })

  test('below the root apply to the working directory', async () => {
    const cwd = repository({ 'sub/.portcullis/rules/a.rules': rules, 'sub/x': '' })
    const ended = await exec([[run('touch a')], [say('ok')]], ['--json', 'x'], { cwd: join(cwd, 'sub') })
    expect(verdicts(ended)).toMatchObject([['deny', expect.stringContaining('sub/.portcullis/rules/a.rules:1')]])
  })

  test('are not read through a link', async () => {
    const cwd = repository({ '.portcullis/rules/.keep': '' })
    symlinkSync('/etc/hostname', join(cwd, '.portcullis/rules/a.rules'))
    const { code, stderr } = await exec([[say('never')]], ['--trust', 'x'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('.portcullis/rules/a.rules:1:1: ')
  })
})

describe('a fault in any of these files stops the run before any request, and says where it is', () => {
  const project = '.claude/settings.json'
  test.each([
    [project, settings({ deny: 'Bash(touch *)' }), 'settings.json:3:5: permissions.deny is not a list'],
    [project, settings({ deny: [7] }), 'settings.json:4:7: an entry of permissions.deny is not a string'],
    [project, '{\n  "permissions": {\n', 'settings.json:3:1: the settings are not JSON'],
    [project, '[]', 'settings.json:1:1: the settings are not an object'],
    ['.portcullis/rules/a.rules', 'prefix_rule(pattern = [])\n', 'a.rules:1:'],
  ])('%s: %j', async (file, text, words) => {
    const { code, stdout, stderr, requests } = await exec([[say('never')]], ['--trust', 'x'], {
      cwd: repository({ [file]: text }),
    })
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(words)
    expect(requests).toHaveLength(0)
  })

  test.each([
    ['.claude/settings.json', settings({ deny: ['Read()'] }), '.claude/settings.json:4:7: Read() names nothing'],
    ['.config/portcullis/config.toml', '[permissions]\ndeny = ["Bash(x"]\n', 'config.toml:2:9: "Bash(x" is not'],
    ['.config/portcullis/config.toml', '[permissions]\ndeny = "Bash(x)"\n', "key 'permissions.deny'"],
    ['.config/portcullis/config.toml', '[permissions]\ndeni = []\n', "did you mean 'deny'?"],
  ])('in the home: %s: %j', async (file, text, words) => {
    const { code, stderr } = await exec([[say('never')]], ['x'], { cwd: repository(), home: tempDir({ [file]: text }) })
    expect(code).toBe(2)
    expect(stderr).toContain(words)
  })
})

describe.skipIf(needsBubblewrap())('what only loses an entry is told, and the run goes on', () => {
  const project = '.claude/settings.json'
  test.each([
    [project, settings({ deny: ['Bash(touch *'] }), 'Bash(touch *'],
    [project, settings({ allow: ['Bsh(x)'] }), 'Bsh'],
    ['.claude/settings.local.json', settings({ ask: ['mcp__'] }), 'mcp__'],
  ])('in a repository: %s: %j', async (file, text, words) => {
    const { code, stderr } = await exec([[say('ok')]], ['--trust', 'x'], { cwd: repository({ [file]: text }) })
    expect(code).toBe(0)
    expect(stderr).toContain(file)
    expect(stderr).toContain(words)
  })

  test('an allow of the user’s own', async () => {
    const home = tempDir({ [project]: settings({ allow: ['Read()'] }) })
    const { code, stderr } = await exec([[say('ok')]], ['x'], { cwd: repository(), home })
    expect(code).toBe(0)
    expect(stderr).toContain('Read()')
  })
})

test('agent policy check goes by the same files', async () => {
  const cwd = repository({
    '.claude/settings.json': settings({ deny: ['Bash(touch *)'], allow: ['Bash(mkdir *)'] }),
    '.portcullis/rules/a.rules': 'prefix_rule(pattern = ["ln"], decision = "forbidden", justification = "No.")\n',
  })
  const home = tempDir()
  const check = async (command: string, ...flags: readonly string[]): Promise<unknown> => {
    const words = ['policy', 'check', '--json', '--ask-for-approval', 'untrusted', ...flags, '--', command]
    return (JSON.parse((await agent(words, { cwd, home })).stdout) as { decision: string }).decision
  }
  expect(await check('touch a')).toBe('deny')
  expect(await check('ln -s a b')).toBe('deny')
  expect(await check('mkdir b')).toBe('ask')
  expect(await check('mkdir b', '--trust')).toBe('allow')
})
