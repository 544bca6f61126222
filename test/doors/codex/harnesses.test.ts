import { describe, expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { bodies, codexExec, homeWith, mockOf, textsBy } from './door.ts'

const bypass = '--dangerously-bypass-approvals-and-sandbox'
const hello = [[say('hello')]]

describe.skipIf(needsBubblewrap())('the command lines of programs that start Codex', () => {
  test('a GitHub action: a provider of the configuration, the prompt on standard input', async () => {
    const proxy = await mockOf(hello)
    const config = [
      'model_provider = "action-proxy"',
      '[model_providers.action-proxy]',
      'name = "proxy"',
      `base_url = "${proxy.baseUrl}"`,
      'wire_api = "responses"',
    ].join('\n')
    const cwd = tempDir()
    const last = `${tempDir()}/last.txt`
    const args = ['--skip-git-repo-check', '--cd', cwd, '--output-last-message', last, '--sandbox', 'read-only']
    const { code } = await codexExec(args, {
      replies: [],
      cwd,
      home: homeWith({ '.codex/config.toml': config }),
      stdin: 'from the action',
    })
    expect([code, proxy.requests]).toEqual([0, [expect.anything()]])
  })

  test('a benchmark: features, no files of the user, the prompt after --', async () => {
    const options = ['--json', '--enable', 'unified_exec', '--ephemeral', '--ignore-rules', '--ignore-user-config']
    const args = [bypass, '--skip-git-repo-check', '--model', 'gpt-5.5', ...options, '--', 'resume the work']
    const ended = await codexExec(args, { replies: hello })
    expect(ended.code).toBe(0)
    expect(textsBy('user', bodies(ended)[0]).at(-1)).toBe('resume the work')
  })

  test('an evaluation: web search, features, and the second attempt by resume --last after the prompt', async () => {
    const [home, cwd] = [homeWith(), tempDir()]
    const search = ['-c', 'web_search="live"', '-c', 'features.goals=true']
    const args = ['--color', 'never', '--skip-git-repo-check', '--model', 'gpt-5.5', bypass, ...search]
    expect((await codexExec([...args, 'first'], { replies: hello, home, cwd })).code).toBe(0)
    const again = await codexExec([...args, 'second', 'resume', '--last'], { replies: hello, home, cwd })
    expect([again.code, textsBy('user', bodies(again)[0])]).toEqual([0, expect.arrayContaining(['first', 'second'])])
  })
})
