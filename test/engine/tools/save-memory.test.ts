import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const done = [say('done')]
const save = (fact: string, more: object = {}) => call('save_memory', { fact, ...more })
const told = ({ requests }: Pick<Exec, 'requests'>): string => JSON.stringify(requests.at(-1)?.body)

/** Performs a run in which the model saves a fact. `allow` contains the entries of the user's `permissions.allow`. */
async function run(
  fact: string,
  given: {
    readonly cwd: string
    readonly allow?: readonly string[]
    readonly more?: object
    readonly args?: readonly string[]
    readonly home?: string
  },
): Promise<Exec> {
  const { cwd, allow = [], more = {}, args = [], home = tempDir() } = given
  mkdirSync(join(home, '.config/portcullis'), { recursive: true })
  const permissions = `[permissions]\nallow = ${JSON.stringify(allow)}\n`
  writeFileSync(join(home, '.config/portcullis/config.toml'), permissions)
  return exec([[save(fact, more)], done], ['--json', ...args, 'go'], { cwd, home })
}

describe.skipIf(needsBubblewrap())('save_memory with nobody to ask', () => {
  test.each(['on-request', 'on-failure', 'untrusted', 'never'])(
    'is refused in mode %s, with what would allow it',
    async (mode) => {
      const cwd = repository({ 'AGENTS.md': '# Notes\n' })
      const ended = await run('use tabs', { cwd, args: ['--ask-for-approval', mode] })
      expect(ended.code).toBe(0)
      expect(told(ended)).toContain(
        'contains instructions that agents receive in every later run. Nobody is here to approve it',
      )
      expect(told(ended)).toContain(`the permission Edit(/${cwd}/AGENTS.md)`)
      expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 1 })
      expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe('# Notes\n')
    },
  )

  test('works if a permission of the user allows it, and the next run gets the note', async () => {
    const cwd = repository({ 'AGENTS.md': '# Notes\r\n- a\r\n# Rest\r\n' })
    const given = { cwd, allow: ['Edit(AGENTS.md)'] }
    const first = await run('use tabs', given)
    expect(told(first)).toContain('Saved in')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe('# Notes\r\n- a\r\n- use tabs\r\n# Rest\r\n')
    expect(first.events).toContainEqual(
      expect.objectContaining({
        type: 'item.completed',
        item: expect.objectContaining({ type: 'file_change', status: 'completed' }),
      }),
    )
    const second = await run('use tabs', given)
    expect(JSON.stringify(second.requests[0]?.body)).toContain('- use tabs')
    expect(told(second)).toContain('already says that')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe('# Notes\r\n- a\r\n- use tabs\r\n# Rest\r\n')
  })

  test('a deny of the user overrides what they allow', async () => {
    const cwd = repository({
      '.claude/settings.json': '{"permissions":{"deny":["Edit(AGENTS.md)"]}}',
      'AGENTS.md': '',
    })
    const ended = await run('use tabs', { cwd, allow: ['Edit(AGENTS.md)'] })
    expect(told(ended)).toContain('Refused by the Guardian (permissions)')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe('')
  })

  test('for the user goes into their own file, and a repository has no influence on that', async () => {
    const home = tempDir()
    const cwd = repository({ '.claude/settings.json': '{"permissions":{"allow":["Edit"]}}' })
    const more = { scope: 'user', section: 'Taste' }
    const refused = await run('use tabs', { cwd, home, more, args: ['--trust'] })
    expect(told(refused)).toContain('Refused by the Guardian')
    const file = join(home, '.config/portcullis/AGENTS.md')
    expect(existsSync(file)).toBe(false)
    const saved = await run('use tabs', { cwd, home, more, allow: [`Edit(/${file})`] })
    expect(told(saved)).toContain('Saved in')
    expect(readFileSync(file, 'utf8')).toBe('## Taste\n\n- use tabs\n')
  })

  test('uses the nearest file from the workspace up, or creates AGENTS.md in the root', async () => {
    const cwd = repository({ 'CLAUDE.md': '# Notes\n', 'sub/a.txt': '' })
    const allow = ['Edit(CLAUDE.md)', `Edit(/${cwd}/**)`]
    await run('use tabs', { cwd, allow, args: ['-C', join(cwd, 'sub')] })
    expect(readFileSync(join(cwd, 'CLAUDE.md'), 'utf8')).toBe('# Notes\n\n- use tabs\n')
    const other = repository({ 'sub/a.txt': '' })
    await run('use tabs', { cwd: other, allow: [`Edit(/${other}/**)`], args: ['-C', join(other, 'sub')] })
    expect(readFileSync(join(other, 'AGENTS.md'), 'utf8')).toBe('## Notes\n\n- use tabs\n')
  })

  test('follows a link to another file of instructions in the repository, and no other link', async () => {
    const outside = tempDir({ 'AGENTS.md': 'theirs\n' })
    const cases = [
      ['CLAUDE.md', '# Notes\n\n- use tabs\n', 'Saved in'],
      [join(outside, 'AGENTS.md'), 'theirs\n', 'outside'],
      ['hook.sh', '#!/bin/sh\n', 'not an instruction file'],
      ['gone.md', undefined, "a file that doesn't exist"],
    ] as const
    for (const [target, content, said] of cases) {
      const cwd = repository({ 'CLAUDE.md': '# Notes\n', 'hook.sh': '#!/bin/sh\n' })
      symlinkSync(target, join(cwd, 'AGENTS.md'))
      const ended = await run('use tabs', { cwd, allow: ['Edit'] })
      expect(told(ended)).toContain(said)
      if (content === undefined) expect(existsSync(join(cwd, target))).toBe(false)
      else expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe(content)
    }
  })

  test('refuses anything but a plain line: two lines, an import, a file that is not text', async () => {
    const cwd = repository({ 'AGENTS.md': '' })
    for (const [fact, said] of [
      ['a\nb', 'one line of text'],
      ['see @../secret.md', 'read as a file to import'],
    ] as const) {
      expect(told(await run(fact, { cwd, allow: ['Edit'] }))).toContain(said)
    }
    writeFileSync(join(cwd, 'AGENTS.md'), Uint8Array.of(0xff, 0xfe, 0))
    expect(told(await run('a', { cwd, allow: ['Edit'] }))).toContain('not UTF-8')
  })
})

test.skipIf(needsScript() || needsBubblewrap())('a person is asked what is saved, sees it, and decides', async () => {
  for (const [answer, content] of [
    ['y\n', '# Notes\n\n- use tabs\n'],
    ['n\n', '# Notes\n'],
  ] as const) {
    const cwd = repository({ 'AGENTS.md': '# Notes\n' })
    const ended = await execAtTerminal(
      [[save('use tabs')], done],
      ['--ask-for-approval', 'on-request', 'go'],
      [{ after: '[y/r/n/s] ', text: answer }],
      {
        cwd,
      },
    )
    expect(ended.shown).toContain('    +- use tabs')
    expect(readFileSync(join(cwd, 'AGENTS.md'), 'utf8')).toBe(content)
  }
})
