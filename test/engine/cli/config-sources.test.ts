import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { whyNoStrace } from '../../apply-patch/files/strace.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

type Source = {
  readonly path: string
  readonly what: string
  readonly whose: string
  readonly state: string
  readonly why: readonly string[]
}

const own = '.config/portcullis/config.toml'
const rules = 'prefix_rule(pattern = ["a"], decision = "allow")\n'

async function sources(options: Parameters<typeof agent>[1], ...args: readonly string[]): Promise<readonly Source[]> {
  const { stdout, code, stderr } = await agent(['config', 'sources', '--json', ...args], options)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Source)
}

/** The state of each existing file, by its path below one of these folders. */
function states(found: readonly Source[], ...folders: readonly string[]): Readonly<Record<string, string>> {
  const named = (path: string): string => folders.reduce((left, folder) => left.replace(`${folder}/`, ''), path)
  const there = found.filter(({ state }) => state !== 'not there')
  return Object.fromEntries(there.map(({ path, state }) => [named(path), state]))
}

const home = {
  [own]: 'model = "gpt-5.5"\n',
  '.config/portcullis/rules/a.rules': rules,
  '.config/portcullis/AGENTS.md': 'mine',
  '.codex/config.toml': 'model = "x"\n[tui]\ntheme = "dark"\n',
  '.codex/rules/default.rules': `${rules}prefix_rule(\n`,
  '.codex/AGENTS.md': 'codex',
  '.codex/AGENTS.override.md': 'instead',
  '.claude/settings.json': '{"permissions": {"allow": ["Bash(ls)"]}}',
  '.claude.json': '{"mcpServers": {"odd name": {"command": "true"}}}',
  '.gemini/GEMINI.md': 'gemini',
}
const root = {
  '.portcullis/config.toml': 'model = "theirs"\n',
  '.codex/config.toml': '',
  '.claude/settings.json': '{"model": "opus"}',
  '.mcp.json': '{',
  'AGENTS.md': 'see @gone.md',
  '.claude/skills/broken/SKILL.md': '---\nname: [\n---\n',
}

describe('agent config sources', () => {
  test('shows for each file whether it counts, and if not, why', async () => {
    const [at, cwd] = [tempDir(home), repository(root)]
    const found = await sources({ cwd, home: at })
    expect(states(found, at, cwd)).toEqual({
      [own]: 'read',
      '.config/portcullis/rules': 'read',
      '.config/portcullis/rules/a.rules': 'read',
      '.config/portcullis/AGENTS.md': 'read',
      '.codex/config.toml': 'ignored',
      '.codex/rules': 'read in part',
      '.codex/rules/default.rules': 'read in part',
      '.codex/AGENTS.override.md': 'read',
      '.codex/AGENTS.md': 'ignored',
      '.claude.json': 'ignored',
      '.gemini/GEMINI.md': 'read',
      '.portcullis/config.toml': 'read in part',
      '.claude/settings.json': 'read in part',
      '.claude/skills': 'read in part',
      '.mcp.json': 'ignored',
      'AGENTS.md': 'read',
    })
    const why = (path: string): string => found.find((one) => one.path === path)?.why.join('; ') ?? ''
    expect(why(join(at, '.codex/config.toml'))).toContain('import = ["codex"]')
    expect(why(join(at, '.codex/rules/default.rules'))).toContain('2:13, the file ends in the middle of a rule')
    expect(why(join(at, '.codex/AGENTS.md'))).toContain('AGENTS.override.md takes its place')
    expect(why(join(at, '.claude.json'))).toContain('import = ["claude"]')
    expect(why(join(cwd, '.portcullis/config.toml'))).toContain('model, this repository is not trusted')
    expect(why(join(cwd, '.claude/skills'))).toContain('broken/SKILL.md')
    const missing = found.filter(({ state }) => state === 'not there').map(({ path }) => path)
    expect(missing).toEqual(expect.arrayContaining([join(cwd, 'CLAUDE.local.md'), '/etc/portcullis/config.toml']))
  })

  test('describes the run that the options are for: with trust, an import, or nothing at all', async () => {
    const [at, cwd] = [tempDir(home), repository(root)]
    const trusted = states(await sources({ cwd, home: at }, '--trust', '-c', 'import=["codex","claude"]'), at, cwd)
    expect(trusted).toMatchObject({
      '.portcullis/config.toml': 'read',
      '.claude.json': 'read in part',
      '.mcp.json': 'broken',
    })
    const isolated = await sources({ cwd, home: at }, '--isolated')
    const there = isolated.filter(({ state }) => state !== 'not there')
    expect([...new Set(there.map(({ state, why }) => `${state}: ${why.join()}`))]).toEqual(['ignored: --isolated'])
  })

  test('continues if a file would stop every run, and names the fault', async () => {
    const at = tempDir({ [own]: 'model =\n', '.config/portcullis/rules/a.rules': 'prefix_rule(' })
    const found = await sources({ cwd: repository(), home: at })
    expect(states(found, at)).toMatchObject({ [own]: 'broken', '.config/portcullis/rules/a.rules': 'broken' })
    expect(found.find(({ path }) => path === join(at, own))?.why).toEqual([
      expect.stringMatching(/^1:\d+: not valid TOML/),
    ])
  })

  test('is also a list for people, with existing files first', async () => {
    const [at, cwd] = [tempDir(home), repository(root)]
    const { stdout } = await agent(['config', 'sources'], { cwd, home: at })
    expect(stdout).toMatch(/^The machine’s\n/)
    expect(stdout).toContain(`\nYours\n`)
    expect(stdout).toContain(
      `  ignored       ${at}/.codex/AGENTS.md (instructions)\n                  ${at}/.codex/AGENTS.override.md takes`,
    )
    expect(stdout.indexOf(`${cwd}/.mcp.json`)).toBeLessThan(stdout.indexOf(`not there     ${cwd}/`))
  })

  testUnlessOnCi(whyNoStrace())('leaves out nothing that a run looks for', async () => {
    const at = tempDir({
      '.claude/.keep': '',
      '.codex/.keep': '',
      [own]: 'import = ["codex", "claude"]\n',
      '.agents/.keep': '',
    })
    const cwd = repository({ '.claude/.keep': '', '.codex/.keep': '', '.portcullis/.keep': '', 'sub/.keep': '' })
    const options = { cwd: join(cwd, 'sub'), home: at }
    const trace = join(tempDir(), 'trace')
    const startedBy = ['strace', '-f', '-e', 'trace=%file', '-o', trace]
    // The run fails because the model doesn't exist, but all configuration files have been read by then.
    const { code } = await agent(['exec', '--trust', '-m', 'replay:/nowhere', 'x'], { ...options, startedBy })
    expect(code).toBe(2)
    const text = readFileSync(trace, 'utf8')
    const looked = [...text.matchAll(/"(\/[^"]+)"/g)].map(([, path = '']) => path)
    const mine = [...new Set(looked)].filter((path) => path.startsWith(`${at}/`) || path.startsWith(`${cwd}/`))
    const listed = (await sources(options, '--trust')).map(({ path }) => path)
    // Files that belong to git or contain no configuration aren't listed.
    const others = /\/\.git(?:$|\/)|\/\.git$|\.local(?:$|\/)|\.cache|node_modules|package\.json$|\.keep$/
    const unlisted = mine.filter(
      (path) =>
        !others.test(path) &&
        !listed.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`)),
    )
    expect(mine.length).toBeGreaterThan(20)
    expect(unlisted).toEqual([])
  })
})
