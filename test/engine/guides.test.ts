import { Command } from 'commander'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { declareClaude } from '../../engine/cli/claude/declare-claude.ts'
import { declareCodex } from '../../engine/cli/codex/declare-codex.ts'
import { declareExec } from '../../engine/cli/declare/declare-exec.ts'
import { startMockChat } from '../support/mock-chat.ts'
import { call, say, startMockOpenAI } from '../support/mock-openai.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { releaseFolder } from '../support/release-folder.ts'
import { tempDir } from '../support/temp-dir.ts'
import { repository } from '../support/workspace.ts'

const at = (guide: string): URL => new URL(`../../engine/${guide}`, import.meta.url)
const read = (guide: string): string => readFileSync(at(guide), 'utf8')

/** The lines that a guide tells its reader to type. */
function linesOf(guide: string): string {
  const blocks = [...read(guide).matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block)
  expect(blocks.length, `${guide} has lines to type`).toBeGreaterThan(0)
  return blocks.join('\n')
}

const replies = [
  { usage: { input: 10, output: 10 }, say: [call('exec_command', { cmd: 'echo done > made.txt' })] },
  { usage: { input: 10, output: 10 }, say: [say('Made it.')] },
]

/** Programs that a reader has and that need a network: each prints its words. */
const standIns = ['gh', 'glab', 'docker']

type Typed = { readonly code: number | null; readonly log: string; readonly cwd: string }

/** Types a guide's lines into a shell, in a fresh home and a repository of its own, and stops at the first line that fails. */
async function type(lines: string, variables: Readonly<Record<string, string>>): Promise<Typed> {
  const program = new URL('../../dist/bin/agent.js', import.meta.url).pathname
  const bin = tempDir({
    agent: `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`,
    ...Object.fromEntries(standIns.map((name) => [name, `#!/bin/sh\necho "${name} $*"\n`])),
  })
  for (const name of ['agent', ...standIns]) chmodSync(join(bin, name), 0o755)
  const [home, cwd] = [tempDir({ '.gitconfig': '[user]\nname = A\nemail = a@b\n' }), repository({ 'a.txt': 'one\n' })]
  const origin = tempDir()
  execFileSync('git', ['init', '--quiet', '--bare', origin])
  execFileSync('git', ['-C', cwd, 'remote', 'add', 'origin', origin])
  execFileSync('git', ['-C', cwd, 'config', 'push.autoSetupRemote', 'true'])
  const child = spawn('bash', ['-euc', lines], {
    cwd,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: home, OPENAI_API_KEY: 'sk-x', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [log, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, log: log + errors, cwd }
}

const made = ({ cwd }: Typed): string => readFileSync(join(cwd, 'made.txt'), 'utf8')

describe.skipIf(needsBubblewrap())('the lines of a guide work as they are in a fresh home', () => {
  test.each([
    [
      'github',
      '.github/workflows/agent.yml',
      'gh workflow run agent.yml -f prompt=make the tests pass -f verify=npm test',
    ],
    ['gitlab', '.gitlab/agent.yml', 'glab ci run --variables PROMPT:make the tests pass,VERIFY:npm test'],
  ])('on %s', async (name, file, last) => {
    const typed = await type(linesOf(`cli/init/${name}.md`), { RELEASE: (await releaseFolder()).url })
    expect(typed.code, typed.log).toBe(0)
    expect(typed.log).toContain(last)
    expect(execFileSync('git', ['-C', typed.cwd, 'ls-tree', '-r', '--name-only', '@{upstream}']).toString()).toContain(
      file,
    )
  })

  test('on Jenkins, and on any other system', async () => {
    const mock = await startMockOpenAI({ replies })
    onTestFinished(() => mock.close())
    const { url, archive, sha256 } = await releaseFolder()
    const typed = await type(linesOf('cli/init/jenkins.md'), {
      ...{ RELEASE: url, PORTCULLIS_URL: archive, PORTCULLIS_SHA256: sha256 },
      ...{ PROMPT: 'make it', VERIFY: 'true', OPENAI_BASE_URL: mock.baseUrl },
    })
    expect(typed.code, typed.log).toBe(0)
    expect(made(typed)).toBe('done\n')
    for (const name of ['report.html', 'junit.xml', 'portcullis.patch', '.portcullis/Jenkinsfile'])
      expect(existsSync(join(typed.cwd, name)), name).toBe(true)
  })

  test('in a container', async () => {
    const typed = await type(linesOf('cli/init/container.md'), {})
    expect(typed.code, typed.log).toBe(0)
    expect(typed.log.match(/^docker run .* portcullis:\S+ exec .*make the tests pass$/gm)).toHaveLength(3)
    expect(typed.log).toContain(`--volume ${typed.cwd}:/work`)
  })

  test('with a model server of one’s own', async () => {
    const [chat, gateway] = [await startMockChat({ replies }), await startMockOpenAI({ replies })]
    onTestFinished(async () => void (await Promise.all([chat.close(), gateway.close()])))
    const lines = linesOf('models/README.md')
      .replace('export OPENAI_BASE_URL=http://localhost:8000/v1', `export OPENAI_BASE_URL=${gateway.baseUrl}`)
      .replace('"http://localhost:8000/v1"', JSON.stringify(chat.baseUrl))
    const typed = await type(lines, {})
    expect(typed.code, typed.log).toBe(0)
    expect(made(typed)).toBe('done\n')
    for (const { requests } of [chat, gateway])
      expect(requests.map(({ body }) => (body as { model: string }).model)).toContain('qwen3-coder')
  })

  test('when one comes from another program', async () => {
    const mock = await startMockOpenAI({ replies: (_, index) => replies[index % 2] ?? [say('x')] })
    onTestFinished(() => mock.close())
    const typed = await type(linesOf('cli/migrating.md'), { OPENAI_BASE_URL: mock.baseUrl })
    expect(typed.code, typed.log).toBe(0)
    expect(typed.log).toContain('"type":"turn.completed"')
  })
})

describe('the tables of the guide for other programs', () => {
  const optionsOf = (
    declare: (program: Command, finish: () => void) => void,
    name: string,
  ): ReadonlyMap<string, boolean> => {
    const program = new Command()
    declare(program, () => undefined)
    const { options = [] } = program.commands.find((each) => each.name() === name) ?? {}
    return new Map(
      options.flatMap(({ long, short, hidden }) =>
        [long, ...(long === undefined ? [short] : [])].flatMap((each) =>
          each === undefined ? [] : [[each, hidden] as const],
        ),
      ),
    )
  }
  const exec = optionsOf(declareExec, 'exec')
  const rowsOf = (title: string): readonly (readonly [string, string])[] => {
    const [, section = ''] = read('cli/migrating.md').split(`## ${title}\n`)
    const [table = ''] = section.split('\n## ')
    return [...table.matchAll(/^\| (`-.*?) +\| (.*?) +\|$/gm)].map(([, from = '', to = '']) => [from, to])
  }
  const named = (cell: string): readonly string[] => [...cell.matchAll(/`(--?[\w-]+)`/g)].map(([, name = '']) => name)

  test.each([
    ['Codex', optionsOf(declareCodex, 'codex')],
    ['Claude Code', optionsOf(declareClaude, 'claude')],
  ])('name each option of %s that is different here', (title, declared) => {
    const own = ['--version', '--help']
    const wanted = [...declared].flatMap(([name, hidden]) => {
      const isSame = title === 'Codex' && exec.has(name)
      return hidden || isSame || own.includes(name) ? [] : [name]
    })
    expect(
      rowsOf(title)
        .flatMap(([from]) => named(from))
        .toSorted(),
    ).toEqual(wanted.toSorted())
  })

  test('name only options that agent exec has', () => {
    for (const title of ['Codex', 'Claude Code', 'Gemini CLI'])
      for (const [, to] of rowsOf(title)) for (const name of named(to)) expect([...exec.keys()]).toContain(name)
  })
})

test('a guide takes at most 900 words', () => {
  for (const guide of [
    'cli/init/github.md',
    'cli/init/gitlab.md',
    'cli/init/jenkins.md',
    'cli/init/container.md',
    'cli/migrating.md',
    'models/README.md',
    'library/README.md',
  ])
    expect(read(guide).split(/\s+/).length, guide).toBeLessThanOrEqual(900)
})
