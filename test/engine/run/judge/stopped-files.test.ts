import { expect, test } from 'vitest'
import { judge, type Files } from '../../../support/judge-change.ts'
import { pytest } from './projects.ts'

const files: Files = {
  ...pytest.files,
  'text.py': 'def shout(text):\n    return text.upper()\n',
  'tests/test_text.py': "from text import shout\n\n\ndef test_shouts():\n    assert shout('a') == 'A'\n",
}
const renamed = {
  'text.py': 'def cry(text):\n    return text.upper()\n',
  'tests/test_text.py': "from text import cry\n\n\ndef test_shouts():\n    assert cry('a') == 'A'\n",
}

async function verdictOf(change: Files) {
  const judged = await judge({ files, change, command: pytest.command, settings: {} })
  if (typeof judged === 'string') return judged
  const kinds = new Set(judged.judgement.findings.map(({ kind }) => kind))
  return [judged.judgement.verdict, judged.passes, [...kinds].toSorted()]
}

// pytest runs no test if it can't load one file.
test.skipIf(pytest.isMissing())('tests that a rewritten file stops together with its own are revised', async () => {
  expect(await verdictOf(renamed)).toEqual(['revised', false, ['rewritten']])
})

test.skipIf(pytest.isMissing())('tests that are stopped without a rewritten file are weakened', async () => {
  const change = { 'conftest.py': `${files['conftest.py']}\nraise SystemExit(0)\n` }
  const verdict = await verdictOf(change)
  expect(Array.isArray(verdict) ? verdict.slice(0, 2) : verdict).toEqual(['weakened', false])
})

test.skipIf(pytest.isMissing())('a broken source is no reason for tests that were not seen', async () => {
  const verdict = await verdictOf({ ...renamed, 'calc.py': 'def add(a, b):\n    return a - b\n' })
  expect(Array.isArray(verdict) ? verdict[1] : verdict).not.toBe(true)
})
