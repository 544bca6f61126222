import { expect, test } from 'vitest'
import { Judge } from '../../../../engine/run/judge/judge.ts'
import { reachCommand } from '../../../../engine/run/judge/reach-command.ts'
import { readReport } from '../../../../engine/run/judge/read-report.ts'
import { runnerOption } from '../../../../engine/run/judge/runner-option.ts'
import { groupTests } from '../../../../engine/run/judge/test-results.ts'
import type { RunChange } from '../../../../engine/transaction/change-record.ts'

const change = (hash: string, ignored?: true): RunChange => ({
  root: '/r',
  path: ignored ? 'cache' : 'a.js',
  before: { type: 'absent' },
  after: { type: 'file', mode: 0o644, size: 1, hash },
  ...(ignored && { ignored }),
})

test('what was changed after the judgement is not what was judged, except for what git ignores', async () => {
  let changes = [change('1'), change('2', true)]
  const judge = new Judge({ changes: async () => ({ changes }) } as ConstructorParameters<typeof Judge>[0])
  expect(await judge.whyOthers()).toBeUndefined()
  judge.noteJudged({ changes })
  changes = [change('1'), change('3', true)]
  expect(await judge.whyOthers()).toBeUndefined()
  changes = [change('4'), change('2', true)]
  expect(await judge.whyOthers()).toContain('were changed after the --verify commands had judged them')
})

test('a script whose output is compared is not part of the command, one whose exit code counts is', () => {
  const files = (recipe: string): readonly string[] => {
    const tree: Readonly<Record<string, string>> = { Makefile: `test:\n\t${recipe}\n`, 'add.sh': '#!/bin/sh\n' }
    return reachCommand('make test', { read: (path) => tree[path], cwd: '', manifests: [] }).files
  }
  const compared = [
    '@test "$$(./add.sh 2 3)" = 5',
    '[ 5 = $(./add.sh 2 3) ] || { echo "got $$(./add.sh 2 3)"; exit 1; }',
    '[ "$$(sh add.sh 2 3)" = 5 ] || { echo "got $$(sh add.sh 2 3)"; exit 1; }',
  ]
  expect(compared.map(files)).toEqual([[], [], []])
  const decides = [
    './add.sh',
    'sh add.sh',
    'out="$$(./add.sh)"; echo $$out',
    'out=$$(sh add.sh); echo $$out',
    'test "$(. ./add.sh; true)" = 5; sh add.sh',
    'test -z "$$(./add.sh)"',
    'test "$(./add.sh)" = 5 && ./add.sh',
  ]
  expect(decides.map(files)).toEqual(decides.map(() => ['add.sh']))
})

test('an option for a report is added only where the command is nothing but the runner', () => {
  const scripts = { test: 'CI=1 vitest run', unit: 'jest', both: 'vitest run && jest', watch: 'vitest watch' }
  const words = (command: string) => runnerOption(command, scripts, '/f')?.words
  const [vitest, jest] = [
    '--reporter=default --reporter=json --outputFile.json=/f/vitest.json',
    '--json --outputFile=/f/jest.json',
  ]
  expect(['vitest run', 'npx vitest', 'pnpm exec vitest run src', 'yarn test'].map(words)).toEqual(
    Array(4).fill(vitest),
  )
  expect(['jest', 'npx jest -i', './node_modules/.bin/jest', 'npm run unit -- -i'].map(words)).toEqual(
    Array(4).fill(jest),
  )
  expect(['npm test', 'npm t', 'npm run test'].map(words)).toEqual(Array(3).fill(`-- ${vitest}`))
  const others = [
    'npm run both',
    'npm run watch',
    'npm run lint',
    'vitest run | tail',
    'vitest $X',
    'vitest bench',
    'node jest.js',
    '',
  ]
  expect(others.map(words)).toEqual(others.map(() => undefined))
})

test('reports in each format say which tests passed, failed and were skipped', () => {
  const states = (format: Parameters<typeof readReport>[0], text: string) =>
    [...groupTests(readReport(format, text)).values()].map((each) => [each.id, each.passed, each.failed, each.skipped])
  const three = (...ids: readonly string[]) =>
    ids.map((id, index) => [id, ...[0, 1, 2].map((at) => (at === index ? 1 : 0))])
  const junit = `<testsuites><testsuite><testcase classname="m" name="a"/><testcase name="b" classname="m"><failure>
    <![CDATA[<skipped/>]]></failure></testcase><testcase classname="m" name="c"><skipped/></testcase></testsuite></testsuites>`
  expect(states('junit', junit)).toEqual(three('m > a', 'm > b', 'm > c'))
  expect(states('tap', 'TAP version 13\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n1..3')).toEqual(
    three('a', 'b', 'c'),
  )
  const go = ['pass', 'fail', 'skip']
    .map((Action, at) => JSON.stringify({ Action, Package: 'p', Test: `T${at}` }))
    .join('\n')
  expect(states('go-json', `${go}\n{"Action":"pass","Package":"p"}\nnot json`)).toEqual(
    three('p > T0', 'p > T1', 'p > T2'),
  )
  const assertionResults = ['passed', 'failed', 'pending'].map((status) => ({
    status,
    title: status,
    ancestorTitles: ['g'],
  }))
  expect(states('jest-json', JSON.stringify({ testResults: [{ name: 'f.js', assertionResults }] }))).toEqual(
    three('f.js > g > passed', 'f.js > g > failed', 'f.js > g > pending'),
  )
  expect(states('jest-json', 'cut')).toEqual([])
})
