import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { CodexOptions } from '../../../engine/cli/codex/codex-options.ts'
import { readTask } from '../../../engine/cli/codex/read-task.ts'
import { translateOptions } from '../../../engine/cli/codex/translate-options.ts'
import { tempDir } from '../../support/temp-dir.ts'

const given = (more: Partial<CodexOptions> = {}): CodexOptions => ({ config: [], ...more })

test.each<readonly [words: readonly string[], options: Partial<CodexOptions>, task: object | string]>([
  [['exec'], {}, { prompt: undefined, start: { type: 'new' } }],
  [['e', 'go'], {}, { prompt: 'go', start: { type: 'new' } }],
  [['exec', 'resume', 'ID'], {}, { prompt: undefined, start: { type: 'resume', id: 'ID', everywhere: false } }],
  [['exec', 'resume', 'ID', 'go'], {}, { prompt: 'go', start: { type: 'resume', id: 'ID', everywhere: false } }],
  [['exec', 'go', 'resume', 'ID'], {}, { prompt: 'go', start: { type: 'resume', id: 'ID', everywhere: false } }],
  [
    ['exec', 'resume', 'go'],
    { last: true },
    { prompt: 'go', start: { type: 'resume', id: undefined, everywhere: false } },
  ],
  [
    ['exec', 'resume'],
    { last: true, all: true },
    { prompt: undefined, start: { type: 'resume', id: undefined, everywhere: true } },
  ],
  [['exec', 'resume'], {}, 'name a session, or give --last'],
  [['exec', 'fork', 'ID', 'go'], {}, { prompt: 'go', start: { type: 'fork', id: 'ID' } }],
  [['exec', 'review'], { base: 'main' }, { prompt: undefined, start: { type: 'new' }, review: { base: 'main' } }],
  [['review', 'errors'], {}, { prompt: 'errors', start: { type: 'new' }, review: {} }],
  [['review'], { base: 'main', uncommitted: true }, 'give one of --uncommitted, --base and --commit'],
  [['exec', 'make', 'tests', 'pass'], {}, expect.stringContaining('put the prompt in quotes')],
  [['login'], {}, expect.stringContaining('not those of codex login')],
])('codex %j with %j', (words, options, task) => {
  expect(readTask(words, given(options))).toEqual(task)
})

test.each<readonly [options: Partial<CodexOptions>, said: object]>([
  [{ yolo: true }, { dangerouslyBypassApprovalsAndSandbox: true }],
  [{ enable: ['goals'], disable: ['hooks'] }, { config: ['features.goals=true', 'features.hooks=false'] }],
  [{ permissionProfile: ':workspace' }, { config: ['default_permissions=":workspace"'] }],
  [{ oss: true }, { model: 'gpt-oss:20b', config: ['model_provider="ollama"'] }],
  [
    { oss: true, localProvider: 'lmstudio', model: 'qwen3' },
    { model: 'qwen3', config: ['model_provider="lmstudio"'] },
  ],
  [{ a: 'never' }, { askForApproval: 'never' }],
  [{ approveForMe: true }, { sandbox: 'workspace-write' }],
  [{ profile: 'ci' }, { codex: { userConfig: true, rules: true, strict: false, profile: 'ci' } }],
  [
    { ignoreUserConfig: true, ignoreRules: true, strictConfig: true },
    { codex: { userConfig: false, rules: false, strict: true } },
  ],
])('%j means what it means in Codex', (options, said) => {
  expect(translateOptions(given(options))).toMatchObject(said)
})

test.each<readonly [options: Partial<CodexOptions>, why: RegExp]>([
  [{ worktree: true }, /--worktree: .* --land never/],
  [{ remote: 'ws://x' }, /--remote: a run works only on this machine/],
  [{ oss: true, localProvider: 'other' }, /--local-provider other: expected ollama and lmstudio, or -m/],
])('%j is refused', (options, why) => {
  expect(() => translateOptions(given(options))).toThrow(why)
})

test('what can’t be had is left out and said', () => {
  const said: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  const folder = tempDir({ 'a.png': 'no picture' })
  const options = translateOptions(
    given({
      addDir: [folder, join(folder, 'absent')],
      image: [join(folder, 'a.png')],
      dangerouslyBypassHookTrust: true,
    }),
  )
  spy.mockRestore()
  expect(options).toMatchObject({ addDir: [folder], image: [], afterPrompt: expect.stringContaining('a.png') })
  expect(said.join('')).toMatch(/hook-trust changes nothing[^]*a\.png: not a PNG[^]*absent: no such directory/)
})
