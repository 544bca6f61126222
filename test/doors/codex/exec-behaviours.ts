import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { call, freeform, say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { bodies, codexExec, homeWith, picture, textsBy, type Behaviour, type Ended } from './door.ts'

const hello: readonly Reply[] = [[say('fixture hello')]]
const anywhere = '--skip-git-repo-check'
const schema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
}

const prompt = (ended: Ended): string | undefined => textsBy('user', bodies(ended)[0]).at(-1)

/** Runs a first task, and continues its session with these arguments. Returns how the second run ended. */
async function resumed(
  args: (facts: { readonly id: string }) => readonly string[],
  first: readonly string[] = [],
): Promise<Ended> {
  const [home, cwd] = [homeWith(), tempDir()]
  const before = await codexExec([anywhere, ...first, '--json', 'first marker'], { replies: hello, home, cwd })
  expect(before.code).toBe(0)
  const { thread_id: id } = JSON.parse(before.stdout.split('\n')[0] ?? '') as { readonly thread_id: string }
  return codexExec(args({ id }), { replies: hello, home, cwd })
}

function expectBoth(ended: Ended): void {
  expect(ended.code).toBe(0)
  const said = textsBy('user', bodies(ended)[0])
  expect(said).toContain('first marker')
  expect(said.at(-1)).toBe('second marker')
}

const addDir: readonly Behaviour[] = [
  ['--add-dir', 2],
  ['--add-dir, three times', 3],
].map(([name, count]) => ({
  name: String(name),
  run: async () => {
    const folders = Array.from({ length: Number(count) }, () => tempDir()).flatMap((folder) => ['--add-dir', folder])
    const { code } = await codexExec([anywhere, '--sandbox', 'workspace-write', ...folders, 'go'], { replies: hello })
    expect(code).toBe(0)
  },
}))

/** Adds a file by a patch, updates it by another, and returns its contents. */
async function patched(make: (patch: string) => ReturnType<typeof freeform>): Promise<string> {
  const cwd = tempDir()
  const add = '*** Begin Patch\n*** Add File: app.py\n+before\n*** End Patch'
  const update = '*** Begin Patch\n*** Update File: app.py\n@@\n-before\n+after\n*** End Patch'
  const replies: readonly Reply[] = [[make(add)], [make(update)], [say('done')]]
  const args = [anywhere, '-m', 'gpt-5.5', '-s', 'danger-full-access', 'foo']
  expect((await codexExec(args, { replies, cwd })).code).toBe(0)
  return readFileSync(join(cwd, 'app.py'), 'utf8')
}

const patches: readonly Behaviour[] = [
  {
    name: 'a program applies a patch that is its only argument',
    run: async (isCodex) => {
      const cwd = tempDir({ 'source.txt': 'original content\n' })
      const patch =
        '*** Begin Patch\n*** Update File: source.txt\n@@\n-original content\n+modified by apply_patch\n*** End Patch'
      const ours = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
      const real = [process.env['CODEX_PROGRAM'] ?? '', '--codex-run-as-apply-patch']
      const [program = '', ...args] = isCodex ? real : [process.execPath, ours]
      const { status, stdout } = spawnSync(program, [...args, patch], { cwd, encoding: 'utf8' })
      expect([status, stdout]).toEqual([0, 'Success. Updated the following files:\nM source.txt\n'])
      expect(readFileSync(join(cwd, 'source.txt'), 'utf8')).toBe('modified by apply_patch\n')
    },
  },
  {
    name: 'patches by the freeform tool',
    run: async () => expect(await patched((patch) => freeform('apply_patch', patch))).toBe('after\n'),
  },
  {
    name: 'patches by a command',
    run: async () => {
      const apply = (patch: string): string => `apply_patch <<'EOF'\n${patch}\nEOF\n`
      expect(await patched((patch) => call('exec_command', { cmd: apply(patch) }))).toBe('after\n')
    },
  },
]

const wire: readonly Behaviour[] = [
  {
    name: 'CODEX_API_KEY',
    run: async () => {
      const env = { CODEX_API_KEY: 'dummy' }
      const { code, requests } = await codexExec([anywhere, 'echo testing'], { replies: hello, env })
      expect([code, requests[0]?.headers.authorization]).toEqual([0, 'Bearer dummy'])
    },
  },
  {
    name: 'requests name the program as their originator',
    run: async (isCodex) => {
      const { requests } = await codexExec([anywhere, 'go'], { replies: hello })
      expect(requests[0]?.headers['originator']).toBe(isCodex ? 'codex_exec' : 'portcullis_exec')
    },
  },
  {
    name: 'CODEX_INTERNAL_ORIGINATOR_OVERRIDE',
    run: async () => {
      const env = { CODEX_INTERNAL_ORIGINATOR_OVERRIDE: 'codex_exec_override' }
      const { requests } = await codexExec([anywhere, 'go'], { replies: hello, env })
      expect(requests[0]?.headers['originator']).toBe('codex_exec_override')
    },
  },
  {
    name: '--output-schema is sent to the model',
    run: async () => {
      const cwd = tempDir({ 'schema.json': JSON.stringify(schema) })
      const args = [anywhere, '-C', cwd, '--output-schema', join(cwd, 'schema.json'), '-m', 'gpt-5.1', 'tell a joke']
      const ended = await codexExec(args, { replies: [[say('{"answer":"ha"}')]], cwd })
      expect(ended.code).toBe(0)
      const format = { name: 'codex_output_schema', type: 'json_schema', strict: true, schema }
      expect(bodies(ended)[0]?.text?.format).toEqual(format)
    },
  },
  {
    name: 'a failure of the provider ends with another code than 0',
    differs: 'exit codes say why',
    run: async (isCodex) => {
      const failing: Reply = { say: [], end: { type: 'failed', code: 'server_error', message: 'synthetic' } }
      const { code } = await codexExec([anywhere, 'go', '--experimental-json'], { replies: () => failing })
      expect(code).toBe(isCodex ? 1 : 6)
    },
  },
  {
    name: 'a message off the schema',
    differs: 'a message off the schema is sent back',
    run: async (isCodex) => {
      const cwd = tempDir({ 'schema.json': JSON.stringify(schema) })
      const replies = [[say('no JSON')], [say('{"answer":"now"}')]]
      const args = [anywhere, '--output-schema', join(cwd, 'schema.json'), '-m', 'gpt-5.1', 'tell']
      const { code, stdout } = await codexExec(args, { replies, cwd })
      expect([code, stdout.trim()]).toEqual([0, isCodex ? 'no JSON' : '{"answer":"now"}'])
    },
  },
  {
    name: 'a model that says nothing',
    differs: 'an empty answer is no success',
    run: async (isCodex) => {
      const { code } = await codexExec([anywhere, 'go'], { replies: () => [] })
      if (isCodex) expect(code).toBe(0)
      else expect(code).not.toBe(0)
    },
  },
]

const resume: readonly Behaviour[] = [
  {
    name: 'PROMPT resume --last continues the session',
    run: async () => expectBoth(await resumed(() => [anywhere, 'second marker', 'resume', '--last'])),
  },
  {
    name: '--json resume --last PROMPT',
    run: async () => expectBoth(await resumed(() => [anywhere, '--json', 'resume', '--last', 'second marker'])),
  },
  {
    name: 'resume --last takes the folder’s newest session, and with --all the newest of all',
    run: async () => {
      const home = homeWith()
      const [a, b] = [tempDir(), tempDir()]
      const run = (cwd: string, ...args: readonly string[]): Promise<Ended> =>
        codexExec([anywhere, '-C', cwd, ...args], { replies: hello, home, cwd })
      await run(a, 'marker of a')
      // Codex tells sessions apart by the second in which they were written.
      await new Promise((resolve) => setTimeout(resolve, 1100))
      await run(b, 'marker of b')
      const own = await run(a, 'resume', '--last', 'next')
      expect(textsBy('user', bodies(own)[0])).toContain('marker of a')
      await new Promise((resolve) => setTimeout(resolve, 1100))
      await run(b, 'another marker of b')
      const all = await run(a, 'resume', '--last', '--all', 'next')
      expect(textsBy('user', bodies(all)[0])).toContain('another marker of b')
    },
  },
  {
    name: 'options after resume, with keys that nobody knows',
    run: async () => {
      const options = ['--json', '--model', 'gpt-5.2', '--config', 'reasoning_level=xhigh', anywhere]
      const bypass = '--dangerously-bypass-approvals-and-sandbox'
      const ended = await resumed(() => ['resume', '--last', ...options, bypass, 'second marker'])
      expectBoth(ended)
      expect(bodies(ended)[0]?.model).toBe('gpt-5.2')
    },
  },
  {
    name: 'PROMPT resume ID continues the session',
    run: async () => expectBoth(await resumed(({ id }) => [anywhere, 'second marker', 'resume', id])),
  },
  {
    name: 'options before resume override those of the session',
    run: async () => {
      const options = (model: string): readonly string[] => ['-s', 'workspace-write', '--model', model]
      const ended = await resumed(
        () => [anywhere, ...options('gpt-5.2'), 'second marker', 'resume', '--last'],
        options('gpt-5.1'),
      )
      expectBoth(ended)
      expect(bodies(ended)[0]?.model).toBe('gpt-5.2')
      expect(ended.stderr).toMatch(/sandbox:? workspace-write/)
    },
  },
  {
    name: 'resume --last --image FILE --image FILE PROMPT',
    run: async () => {
      const images = [picture(), picture()].flatMap((file) => ['--image', file])
      const ended = await resumed(() => [anywhere, 'resume', '--last', ...images, 'second marker'])
      expect(ended.code).toBe(0)
      expect(JSON.stringify(bodies(ended)[0]).split('"input_image"')).toHaveLength(3)
    },
  },
]

/** The folders with sessions, of Codex and of this program. */
const sessions = (home: string): readonly boolean[] =>
  ['.codex/sessions', '.local/state/portcullis/sessions'].map((folder) => {
    const { stdout } = spawnSync('find', [join(home, folder), '-name', '*.jsonl'], { encoding: 'utf8' })
    return stdout.includes('rollout')
  })

const stored: readonly Behaviour[] = [
  {
    name: 'a session is stored',
    run: async () => {
      const home = homeWith()
      await codexExec([anywhere, 'go'], { replies: hello, home })
      expect(sessions(home)).toContain(true)
    },
  },
  {
    name: '--ephemeral stores no session',
    run: async () => {
      const home = homeWith()
      expect((await codexExec([anywhere, '--ephemeral', 'go'], { replies: hello, home })).code).toBe(0)
      expect(sessions(home)).not.toContain(true)
    },
  },
  {
    name: 'a required MCP server of Codex’s configuration that can’t start ends the run',
    differs: 'exit codes say why',
    run: async (isCodex) => {
      const config = '[mcp_servers.required_broken]\ncommand = "not-a-real-binary"\nrequired = true\n'
      const home = homeWith({ '.codex/config.toml': config })
      const { code, stderr } = await codexExec([anywhere, '--experimental-json', 'go'], { replies: hello, home })
      expect(code).toBe(isCodex ? 1 : 2)
      expect(stderr).toContain('required_broken')
    },
  },
]

const piped: readonly (readonly [name: string, args: readonly string[], stdin: string, prompt: string])[] = [
  ['piped input is added to the prompt', ['Summarize'], 'my output\n', 'Summarize\n\n<stdin>\nmy output\n</stdin>'],
  ['empty piped input is passed over', ['Summarize'], '', 'Summarize'],
  ['- reads the prompt from standard input', ['-'], 'prompt from stdin\n', 'prompt from stdin\n'],
  ['no argument reads the prompt from standard input', [], 'prompt from stdin\n', 'prompt from stdin\n'],
]

const input: readonly Behaviour[] = [
  ...piped.map(([name, args, stdin, expected]): Behaviour => ({
    name,
    run: async () => {
      const ended = await codexExec([anywhere, '-m', 'gpt-5.1', ...args], { replies: hello, stdin })
      expect([ended.code, prompt(ended)]).toEqual([0, expected])
    },
  })),
  ...[[], ['-']].map((args): Behaviour => ({
    name: `empty standard input is no prompt${args.length === 0 ? '' : ', also with -'}`,
    differs: 'exit codes say why',
    run: async (isCodex) => {
      const { code, stderr } = await codexExec([anywhere, ...args], { replies: hello })
      expect(code).toBe(isCodex ? 1 : 2)
      expect(stderr).toContain('No prompt provided via stdin.')
    },
  })),
]

const output: readonly Behaviour[] = [
  {
    name: '-o writes the last message',
    run: async () => {
      const file = join(tempDir(), 'last.txt')
      const { code } = await codexExec([anywhere, '-o', file, 'go'], { replies: hello })
      expect([code, existsSync(file) && readFileSync(file, 'utf8').trim()]).toEqual([0, 'fixture hello'])
    },
  },
]

/** The behaviours that the tests of `codex exec` expect, and three that scripts rely on. */
export const execBehaviours: Readonly<Record<string, readonly Behaviour[]>> = {
  '--add-dir': addDir,
  patches,
  'requests and answers': wire,
  resume,
  'what is stored and started': stored,
  'standard input': input,
  output,
}
