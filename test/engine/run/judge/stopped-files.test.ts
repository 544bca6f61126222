import { expect, test } from 'vitest'
import { judge, type Files } from '../../../support/judge-change.ts'
import { cargo, pytest } from './projects.ts'

const files: Files = {
  ...pytest.files,
  'text.py': 'def shout(text):\n    return text.upper()\n',
  'tests/test_text.py': "from text import shout\n\n\ndef test_shouts():\n    assert shout('a') == 'A'\n",
}
const renamed = {
  'text.py': 'def cry(text):\n    return text.upper()\n',
  'tests/test_text.py': "from text import cry\n\n\ndef test_shouts():\n    assert cry('a') == 'A'\n",
}

async function verdictOf(change: Files, command = pytest.command) {
  const judged = await judge({ files, change, command, settings: { allowTestChanges: true } })
  if (typeof judged === 'string') return judged
  const findings = judged.judgement.findings.map(({ kind, test }) => `${kind} ${test}`)
  return [judged.judgement.verdict, judged.passes, findings]
}

// Without being told otherwise, pytest runs no test if it can't load one file.
test.skipIf(pytest.isMissing()).each([pytest.command, 'PYTHONPATH=. pytest -q'])(
  'a rewritten file that can’t be loaded as it was keeps no other test of %s from being seen',
  async (command) => {
    const rewritten = expect.stringMatching(/^rewritten tests\/test_text.py > .*test_shouts$/)
    expect(await verdictOf(renamed, command)).toEqual(['revised', true, [rewritten]])
  },
)

test.skipIf(pytest.isMissing())('a runner that stops at the first failure shows the other tests, too', async () => {
  const corrected = {
    'calc.py': 'def add(a, b):\n    return a + b + 1\n\n\ndef double(a):\n    return a * 2\n',
    'conftest.py': (pytest.files['conftest.py'] as string).replace('return 3', 'return 4'),
  }
  const rewritten = ['revised', true, ['rewritten tests/test_calc.py > test_add']]
  expect(await verdictOf(corrected, 'pytest -q -x')).toEqual(rewritten)
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

test.skipIf(pytest.isMissing())('a hook that decides about all tests is no fixture that a test needs', async () => {
  const hook =
    '@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = "passed"\n'
  const verdict = await verdictOf({ ...pytest.broken, 'conftest.py': `${files['conftest.py']}\n\n${hook}` })
  expect(Array.isArray(verdict) ? verdict.slice(0, 2) : verdict).toEqual(['weakened', false])
})

test.skipIf(cargo.isMissing())(
  'a changed source with tests in it is named, because only their names are compared',
  async () => {
    const inside = `${cargo.files['src/lib.rs'] as string}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn inside() {\n        assert_eq!(super::add(1, 1), 2);\n    }\n}\n`
    const judged = await judge({
      files: { ...cargo.files, 'src/lib.rs': inside },
      change: { 'src/lib.rs': inside.replace('a + b', 'b + a') },
      command: cargo.command,
    })
    expect(typeof judged === 'string' ? judged : judged.judgement).toMatchObject({
      verdict: 'kept',
      findings: expect.arrayContaining([
        { kind: 'note', subject: 'src/lib.rs', detail: expect.stringContaining('only by their names') },
      ]),
    })
  },
)
