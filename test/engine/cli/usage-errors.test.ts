import { execFileSync, spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

test.each<readonly [readonly string[], string]>([
  [['exec', '--jsn'], "agent: unknown option '--jsn' (Did you mean --json?) (see agent exec --help)\n"],
  [['exec', 'resume'], 'agent: name a session, or give --last (see agent exec resume --help)\n'],
  [['exce'], "agent: unknown command 'exce' (Did you mean exec?) (see agent --help)\n"],
  [['sessions', 'show'], 'agent: name a run, or give --last (see agent sessions show --help)\n'],
  [
    ['make the tests pass'],
    "agent: unknown command 'make the tests pass' (Did you mean agent exec 'make the tests pass'?) (see agent --help)\n",
  ],
  [['fix', 'it'], "agent: unknown command 'fix' (Did you mean agent exec 'fix it'?) (see agent --help)\n"],
  [
    ['exec', 'fix', 'it'],
    "agent: too many arguments for 'exec'. Expected 1 argument but got 2: fix, it. (Put the prompt in quotes: agent exec 'fix it') (see agent exec --help)\n",
  ],
  [
    ['-p', "it's red"],
    `agent: unknown option '-p' (Did you mean agent exec 'it'\\''s red'? agent claude takes the options of claude -p.) (see agent --help)\n`,
  ],
  [
    ['exec', '--yolo', 'go'],
    "agent: unknown option '--yolo' (That is --dangerously-bypass-approvals-and-sandbox; agent codex takes the options of codex exec.) (see agent exec --help)\n",
  ],
  [
    ['login'],
    "agent: unknown command 'login' (There is no login: set OPENAI_API_KEY in the environment, or ANTHROPIC_API_KEY and -m claude-….) (see agent --help)\n",
  ],
  [
    ['exec', '--budget', '2', 'go'],
    "agent: unknown option '--budget' (Budgets are --max-cost (in dollars), --max-tokens, --max-turns and --timeout (in seconds).) (see agent exec --help)\n",
  ],
  [
    ['exec', '--cost', '2', 'go'],
    "agent: unknown option '--cost' (Did you mean --max-cost?) (see agent exec --help)\n",
  ],
  [['help', 'exce'], "agent: unknown command 'exce' (Did you mean exec?) (see agent --help)\n"],
  [['policy', 'chek'], "agent: unknown command 'chek' (Did you mean check?) (see agent policy --help)\n"],
])('%j is told in one line, with where to read on', async (args, stderr) => {
  expect(await agent(args, { cwd: tempDir(), home: tempDir() })).toMatchObject({ code: 2, stdout: '', stderr })
})

test('apply-patch reports it in the same form', () => {
  const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--chek'], { encoding: 'utf8', input: '' })
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: "apply-patch: unknown option '--chek' (Did you mean --check?) (see apply-patch --help)\n",
  })
  expect(execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })).toContain('Usage: apply-patch')
})

test('a message that quotes text from a repository can’t control the terminal', async () => {
  const cwd = tempDir({ '.portcullis/config.toml': '"\\u001b]52;c;ZXZpbA==\\u0007" = 1\n' })
  const { code, stderr } = await agent(['config', 'show', '--trust'], { cwd, home: tempDir() })
  expect(code).toBe(2)
  expect(stderr).toContain('unknown key')
  expect(stderr).not.toContain('\u001b')
})
