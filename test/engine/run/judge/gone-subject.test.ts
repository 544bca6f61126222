import { expect, test } from 'vitest'
import type { JudgeSettings } from '../../../../engine/core/verification-settings.ts'
import { judge, type Files } from '../../../support/judge-change.ts'
import { node } from './projects.ts'

const files = {
  ...node.files,
  'src/text.js': `exports.shout = (text) => text.toUpperCase()
exports.whisper = (text) => text.toLowerCase()
`,
  'test/text.test.js': `const { test } = require('node:test')
const assert = require('node:assert')
const text = require('../src/text.js')

test('shouts', () => {
  assert.equal(text.shout('a'), 'A')
})
test('whispers', () => {
  assert.equal(text.whisper('A'), 'a')
})
`,
}
const onlyWhispers = files['test/text.test.js'].replace(/test\('shouts'.*?\}\)\n/s, '')
const withoutShout = files['src/text.js'].replace(/exports.shout.*\n/, '')

async function verdictOf(change: Files, settings: Partial<JudgeSettings> = {}) {
  const judged = await judge({ files, change, command: node.command, settings })
  if (typeof judged === 'string') return judged
  const [finding] = judged.judgement.findings
  return [judged.judgement.verdict, judged.passes, finding?.kind, finding?.detail]
}

test.skipIf(node.isMissing())(
  'a test that is removed with what it tested is revised, and lands only where tests may change',
  async () => {
    const change = { 'src/text.js': withoutShout, 'test/text.test.js': onlyWhispers, 'CHANGES.md': '`shout` is gone\n' }
    const how = 'it is gone with shout, which it called and no code names any more'
    expect(await verdictOf(change)).toEqual(['revised', false, 'rewritten', how])
    expect(await verdictOf(change, { allowTestChanges: true })).toEqual(['revised', true, 'rewritten', how])
  },
)

const still = { 'test/text.test.js': onlyWhispers }
for (const [title, change] of Object.entries<Files>({
  'is still there': { ...still, 'src/text.js': files['src/text.js'].replace('toUpperCase', 'trim') },
  'has moved': { ...still, 'src/text.js': withoutShout, 'src/shout.js': 'exports.shout = (text) => text\n' },
  'is still called': { ...still, 'src/text.js': `${withoutShout}exports.call = (it) => it.shout()\n` },
  'is only called, not defined, by a source': {
    ...still,
    'src/text.js': files['src/text.js'].replace('text.toUpperCase()', "text + 'equal('"),
    'src/math.js': `${node.files['src/math.js']}// assert.equal(\n`,
  },
})) {
  test.skipIf(node.isMissing())(`a test that is removed although what it tested ${title} is weakened`, async () => {
    const verdict = ['weakened', false, 'vanished', undefined]
    expect(await verdictOf(change)).toEqual(verdict)
    expect(await verdictOf(change, { allowTestChanges: true })).toEqual(verdict)
  })
}
