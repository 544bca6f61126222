import { expect, test } from 'vitest'
import { commit, parsePatch, planPatch } from '../../../apply-patch/index.ts'
import { claude } from '../../../engine/run/prompts/claude.ts'
import { gpt, olderGpt } from '../../../engine/run/prompts/gpt.ts'
import { other } from '../../../engine/run/prompts/other.ts'
import { patchFormat } from '../../../engine/run/prompts/patch-format.ts'
import { instructionsFor } from '../../../engine/run/instructions.ts'
import { tempDir } from '../../support/temp-dir.ts'

test.each([
  [['gpt-5.5'], gpt],
  [['openai/gpt-5.5', 'gpt-5.1-codex'], gpt],
  [['gpt-4.1'], olderGpt],
  [['openai/gpt-5.5', 'o3', 'codex-mini'], olderGpt],
  [['claude-opus-4-5'], claude],
  [['corp/anthropic/claude-sonnet-4'], claude],
  [['ollama/gpt-oss:20b'], other],
  [['gemini-3-pro'], other],
  [['replay:gpt.jsonl'], other],
  [['gpt-5.5', 'claude-opus-4-5'], other],
])('%j are told the words of their family', (models, expected) => {
  expect(instructionsFor(models)).toBe(expected)
})

test('the patch that is shown as an example is one', async () => {
  const text = /\*\*\* Begin Patch[^]*\*\*\* End Patch/.exec(patchFormat)?.[0] ?? ''
  const root = tempDir({
    'src/greet.js': "export function greet(name) {\n  // Politeness first.\n  return 'hello'\n}\n",
    'src/old.js': '',
  })
  const report = await commit(await planPatch(parsePatch(text, { mode: 'strict' }).patch, { root }))
  expect(report).toBeDefined()
})

test('all of it is short: it is sent with every request', () => {
  for (const text of [gpt, olderGpt, claude, other]) expect(text.length).toBeLessThan(3500)
})

test('all but those that were trained on the patch format are told it', () => {
  const taught = ['gpt-5.5', 'gpt-4.1', 'o3', 'claude-opus-5-5', 'gemini-3-pro', 'replay:x.jsonl'].filter((model) =>
    instructionsFor([model]).includes(patchFormat),
  )
  expect(taught).toEqual(['gpt-4.1', 'o3', 'claude-opus-5-5', 'gemini-3-pro', 'replay:x.jsonl'])
})
