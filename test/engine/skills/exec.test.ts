import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const done = [say('done')]

describe.skipIf(needsBubblewrap())('skills in a run', () => {
  const skill =
    '---\nname: release\ndescription: How a release is made\nallowed-tools: Read, Bash(git tag:*)\n---\nTag it as $0.\n'
  const files = { '.claude/skills/release/SKILL.md': skill }

  test('are named to the model, and shown in full when it asks', async () => {
    const { requests } = await exec([[call('skill', { skill: 'release', args: 'v2' })], done], ['go'], {
      cwd: repository(files),
    })
    expect(JSON.stringify(requests[0]?.body)).toContain('- release: How a release is made')
    expect(JSON.stringify(requests[0]?.body)).not.toContain('Tag it as')
    expect(JSON.stringify(requests[1]?.body)).toContain('Tag it as v2.')
  })

  test('hold the model to what they allow from then on', async () => {
    const cwd = repository(files)
    const write = [call('exec_command', { cmd: 'touch before' })]
    const after = [call('exec_command', { cmd: 'touch after' })]
    const { requests } = await exec([write, [call('skill', { skill: 'release' })], after, done], ['go'], { cwd })
    expect([existsSync(join(cwd, 'before')), existsSync(join(cwd, 'after'))]).toEqual([true, false])
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('allows only Read, Bash(git tag:*)')
  })

  test('one that is not there is answered with those that are', async () => {
    const { requests } = await exec([[call('skill', { skill: 'relaese' })], done], ['go'], { cwd: repository(files) })
    expect(JSON.stringify(requests[1]?.body)).toContain("Did you mean 'release'?")
  })
})

describe.skipIf(needsBubblewrap())('commands', () => {
  const files = {
    '.claude/commands/check.md': '---\nallowed-tools: Bash(git status)\n---\nCheck $ARGUMENTS carefully.\n',
  }

  test('stand for their text, and hold the run to what they allow', async () => {
    const cwd = repository(files)
    const { requests } = await exec([[call('exec_command', { cmd: 'touch x' })], done], ['/check the build'], { cwd })
    expect(JSON.stringify(requests[0]?.body)).toContain('Check the build carefully.')
    expect(existsSync(join(cwd, 'x'))).toBe(false)
  })

  test('one that is not there ends the run before it starts', async () => {
    const { code, stderr, requests } = await exec([done], ['/chek it'], { cwd: repository(files) })
    expect([code, requests.length]).toEqual([2, 0])
    expect(stderr).toContain('Did you mean /check?')
  })
})

describe.skipIf(needsBubblewrap())('plugins', () => {
  const plugin = {
    '.claude-plugin/plugin.json': '{"name": "house", "version": "1.2", "description": "How we work"}',
    'skills/tidy/SKILL.md': '---\ndescription: How to tidy up\n---\nTidy.\n',
    'commands/sweep.md': 'Sweep $ARGUMENTS.',
    'hooks/hooks.json': JSON.stringify({
      hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'cat ${CLAUDE_PLUGIN_ROOT}/note.txt' }] }] },
    }),
    'note.txt': 'shoes off',
  }
  const withPlugin = () => {
    const root = tempDir(plugin)
    const toml = `[plugins.house]\npath = ${JSON.stringify(root)}\n[sandbox_read]\nallow = [${JSON.stringify(root)}]\n`
    return { root, home: tempDir({ '.config/portcullis/config.toml': toml }) }
  }

  test('bring skills, commands and hooks under their name', async () => {
    const { home } = withPlugin()
    const { code, requests, stderr } = await exec([done], ['/house:sweep the floor'], { cwd: repository(), home })
    expect(code, stderr).toBe(0)
    const sent = JSON.stringify(requests[0]?.body)
    for (const part of ['Sweep the floor.', '- house:tidy: How to tidy up', 'shoes off']) expect(sent).toContain(part)
  })

  test('are listed with what they bring', async () => {
    const { root, home } = withPlugin()
    const { stdout } = await agent(['plugins', '--json'], { cwd: repository(), home })
    expect(JSON.parse(stdout)).toEqual({
      name: 'house',
      root,
      version: '1.2',
      description: 'How we work',
      skills: ['house:tidy'],
      commands: ['/house:sweep'],
      agents: [],
      hooks: ['SessionStart'],
      servers: [],
      faults: [],
    })
  })

  test('one that is not there ends the run before it starts', async () => {
    const home = tempDir({ '.config/portcullis/config.toml': '[plugins.gone]\npath = "/nowhere"\n' })
    const { code, stderr } = await exec([done], ['go'], { cwd: repository(), home })
    expect(code).toBe(2)
    expect(stderr).toContain('plugins.gone: /nowhere is not there')
  })
})
