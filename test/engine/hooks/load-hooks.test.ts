import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadHooks } from '../../../engine/hooks/load-hooks.ts'
import { tempDir } from '../../support/temp-dir.ts'

function load(text: string) {
  const path = join(tempDir({ 'settings.json': text }), 'settings.json')
  return { path, load: () => loadHooks([{ path, layer: 'user' }]) }
}

test('a missing file, and settings without hooks, contain none', () => {
  expect(loadHooks([{ path: '/nowhere/settings.json', layer: 'user' }]).hooks.size).toBe(0)
  expect(load('{"permissions": {}}').load().hooks.size).toBe(0)
})

const faults = {
  'JSON that ends too soon': ['{"hooks": {', 1, 'not valid JSON'],
  'an event nobody knows': ['{"hooks": {\n  "PreToolUs": []\n}}', 1, 'PreToolUs'],
  'a handler of no known type': ['{"hooks": {"Stop": [{"hooks": [\n{"type": "shell"}]}]}}', 2, 'type'],
  'a handler without its command': ['{"hooks": {"Stop": [\n{"hooks": [\n {"type": "command"}]}]}}', 3, 'command'],
  'a field that nobody knows': [
    '{"hooks": {"Stop": [{"hooks": [\n{"type": "command", "command": "x", "tiemout": 3}]}]}}',
    2,
    'tiemout',
  ],
  'a matcher that is no pattern': ['{"hooks": {"PreToolUse": [{\n"matcher": "(Bash", "hooks": []}]}}', 2, 'matcher'],
  'an `if` that is no permission': [
    '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x",\n"if": "Bash(git"}]}]}}',
    2,
    'with a closing bracket',
  ],
  'a table that is a list': ['{"hooks": []}', 1, 'hooks'],
} as const

for (const [name, [text, line, says]] of Object.entries(faults)) {
  test(`${name} stops the run, with the location`, () => {
    const { path, load: run } = load(text)
    expect(run).toThrow(new RegExp(`^${path}:${line}:\\d+: `))
    expect(run).toThrow(says)
  })
}

test('a hook for an unknown event is reported, not ignored silently', () => {
  const { load: run } = load('{"hooks": {"TeammateIdle": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
  expect(run().notices[0]).toContain('Portcullis has no event TeammateIdle')
})
