import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { expandCommand } from '../../../engine/skills/expand-command.ts'
import { fillTemplate } from '../../../engine/skills/fill-template.ts'
import { fillArguments } from '../../../engine/skills/fill-arguments.ts'
import { findDefinitions } from '../../../engine/skills/find-definitions.ts'
import { readToolAllowlist } from '../../../engine/skills/tool-allowlist.ts'
import { viewsOf } from '../../../engine/hooks/views-of-call.ts'
import { tempDir } from '../../support/temp-dir.ts'

async function find(files: Readonly<Record<string, string>>) {
  const path = tempDir(files)
  return { path, ...(await findDefinitions([{ path, prefix: '' }])) }
}

describe('found definitions', () => {
  test('none of a folder with too many entries, which is reported, and those of the other folders', async () => {
    const many = Object.fromEntries(Array.from({ length: 2001 }, (_, number) => [`commands/${number}.md`, 'text']))
    const { path, commands, skills, faults } = await find({ ...many, 'skills/one/SKILL.md': 'First, …\n' })
    expect([commands, skills.map(({ name }) => name)]).toEqual([[], ['one']])
    expect(faults).toEqual([
      `there are more than 2,000 entries in ${path}/commands, so none of its definitions are used.`,
    ])
  })

  test('skills, commands and agents by name, with the contents of their front matter', async () => {
    const { path, skills, commands, agents, faults } = await find({
      'skills/release/SKILL.md':
        '---\nname: release\ndescription: >\n  How a release\n  is made.\nallowed-tools: Read, Bash(git tag:*)\n---\nFirst, …\n',
      'skills/release/notes.md': 'not a skill',
      'commands/review.md': '---\nargument-hint: FILE\n---\nReview $1.\n',
      'commands/db/migrate.md': '# Migrate the database\n',
      'agents/tester.md':
        '---\nname: tester\ndescription: Writes tests\ntools: [Read, Grep]\nmodel: inherit\n---\nYou write tests.\n',
    })
    expect(faults).toEqual([])
    expect(skills).toEqual([
      {
        kind: 'skill',
        name: 'release',
        description: 'How a release is made.\n',
        allowedTools: ['Read', 'Bash(git tag:*)'],
        restrict: false,
        model: undefined,
        path: join(path, 'skills/release/SKILL.md'),
        body: 'First, …\n',
      },
    ])
    expect(commands.map(({ name, description }) => [name, description])).toEqual([
      ['db:migrate', 'Migrate the database'],
      ['review', 'Review $1.'],
    ])
    expect(agents).toMatchObject([
      { name: 'tester', allowedTools: ['Read', 'Grep'], model: undefined, body: 'You write tests.\n' },
    ])
  })

  test('if two definitions have the same name, the first folder’s wins', async () => {
    const near = tempDir({ 'commands/go.md': 'near' })
    const far = tempDir({ 'commands/go.md': 'far' })
    const { commands } = await findDefinitions([
      { path: near, prefix: '' },
      { path: far, prefix: '' },
      { path: far, prefix: 'plugin:' },
    ])
    expect(commands.map(({ name, body }) => [name, body])).toEqual([
      ['go', 'near'],
      ['plugin:go', 'far'],
    ])
  })

  for (const [name, text, says] of [
    ['YAML that is none', '---\nname: [a\n---\n', ':3: '],
    [
      'a colon in a plain value',
      '---\nname: a\ndescription: use it: now\n---\n',
      ':3: Nested mappings are not allowed',
    ],
    [
      'such a value, what to do',
      '---\r\ndescription: use it: now\r\n---\r\n',
      'mappings. Quote a value that contains ": "',
    ],
    ['an allowed-tools entry that is nothing', '---\nallowed-tools: Bash(git\n---\n', 'with a closing bracket'],
    ['a name that is a number', '---\nname: 7\n---\n', "'name'"],
    ['a pile of aliases', '---\na: &a [x]\nb: [*a, *a]\n---\n', 'alias'],
  ] as const) {
    test(`a skill with ${name} is left out and named`, async () => {
      const { path, skills, faults } = await find({ 'skills/odd/SKILL.md': text })
      expect(skills).toEqual([])
      expect(faults).toHaveLength(1)
      expect(faults[0]).toContain(`${path}/skills/odd/SKILL.md`)
      expect(faults[0]?.toLowerCase()).toContain(says.toLowerCase())
    })
  }
})

describe('arguments', () => {
  test('fill the placeholders: all at once or one by one, without quotes', () => {
    expect(fillArguments('all: $ARGUMENTS; first: $0; second: $1; third: $ARGUMENTS[2].', `one "two words" it's`)).toBe(
      `all: one "two words" it's; first: one; second: "two; third: words".`,
    )
    expect(fillArguments('first: $0; second: $1; third: $2.', 'one "two words"')).toBe(
      'first: one; second: two words; third: .',
    )
  })

  test('are appended if the text has no placeholder', () => {
    expect(fillArguments('Review.\n', 'src/a.ts')).toBe('Review.\n\nARGUMENTS: src/a.ts\n')
    expect(fillArguments('Review.\n', ' ')).toBe('Review.\n')
  })

  test('a text in an argument that looks like a placeholder stays as it is', () => {
    expect(fillArguments('$ARGUMENTS', '$0 $&')).toBe('$0 $&')
  })
})

describe('commands and files that a text includes', () => {
  test('come from the text itself, with plain arguments, and never from what the user typed', () => {
    const workspace = tempDir({ 'src/a.ts': '', 'b.md': '' })
    const text = 'Now: !`git log $0`. See @src/a.ts, @$1 and @src/; ask @ann or ann@src/a.ts about $ARGUMENTS.'
    expect(fillTemplate('On $ARGUMENTS', '!`id` @b.md', workspace)).toEqual({ prompt: 'On !`id` @b.md', looked: [] })
    expect(fillTemplate(text, 'main b.md', workspace)).toEqual({
      prompt:
        'Now: `git log main` (its output is below). See src/a.ts (its content is below), b.md (its content is below) and src/ ' +
        '(its content is below); ask @ann or ann@src/a.ts about main b.md.',
      looked: [
        { as: '!`git log main`', tool: 'exec_command', input: { cmd: 'git log main' } },
        { as: '@src/a.ts', tool: 'read_file', input: { path: 'src/a.ts' } },
        { as: '@b.md', tool: 'read_file', input: { path: 'b.md' } },
        { as: '@src/', tool: 'list_dir', input: { path: 'src' } },
      ],
    })
  })

  test.each(['$(id)', 'a;id', '-rf', '"a b"', "a'b", '`id`', 'a\nb|id'])(
    'takes no argument that a shell would read as more than a word: %j',
    (typed) => {
      expect(fillTemplate('!`git log "$0" $1`', typed, '/')).toEqual({
        problem: expect.stringContaining("can't be put into"),
      })
    },
  )
})

describe('a prompt', () => {
  const review = async () => find({ 'commands/review.md': 'Review $ARGUMENTS.' })

  test('that names a command is replaced by its text', async () => {
    expect(expandCommand('/review src/a.ts', await review(), '/')).toMatchObject({ prompt: 'Review src/a.ts.' })
  })

  test('that is a path or anything else stays as it is', async () => {
    for (const prompt of ['/usr/bin/env is odd', 'review', ' /review', '/ review', 'a /review']) {
      expect(expandCommand(prompt, await review(), '/'), prompt).toBeUndefined()
    }
  })

  test('with a misspelt command gets a suggestion', async () => {
    expect(expandCommand('/reviw x', await review(), '/')).toEqual({
      problem: 'There is no command or skill /reviw. Did you mean /review?',
    })
  })
})

describe('allowed-tools', () => {
  const claudeNames = (tool: string) => builtInTools.find(({ name }) => name === tool)?.claudeNames ?? []
  const covers = (allowed: readonly string[], tool: string, input: Record<string, unknown>) =>
    readToolAllowlist(allowed, 'here').covers(viewsOf({ tool, claudeNames: claudeNames(tool), input }, '/workspace'))

  test('uses our name of a tool, or Claude Code’s', () => {
    expect(covers(['Read'], 'read_file', { path: 'a' })).toBe(true)
    expect(covers(['read_file'], 'read_file', { path: 'a' })).toBe(true)
    expect(covers(['Read'], 'exec_command', { cmd: 'ls' })).toBe(false)
    expect(covers(['mcp__docs__*'], 'mcp__docs__search', {})).toBe(true)
  })

  test('names commands, and must cover every command of a line', () => {
    const allowed = ['Bash(git add:*)', 'Bash(git commit:*)']
    expect(covers(allowed, 'exec_command', { cmd: 'git add a.txt && git commit -m x' })).toBe(true)
    expect(covers(allowed, 'exec_command', { cmd: 'git add a.txt; touch b' })).toBe(false)
    expect(covers(allowed, 'exec_command', { cmd: 'git add a.txt > b' })).toBe(false)
    expect(covers(allowed, 'exec_command', { cmd: 'git push' })).toBe(false)
  })

  test('an entry that is not a tool is an error with its location', () => {
    expect(() => readToolAllowlist(['(x)'], 'skills/a/SKILL.md')).toThrow(
      "skills/a/SKILL.md: allowed-tools: '(x)' is not a tool",
    )
  })
})
