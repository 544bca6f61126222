import { spawnSync } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

const deeperBy = (letter: string, times: number): string =>
  `for i in $(seq ${times}); do n=$(printf "${letter}%.0s" $(seq 80)); mkdir -p $n; cd -P $n || exit 1; done`
const deeper = deeperBy('d', 75)
const settings = 'mkdir .claude; echo planted > .claude/settings.json'

/** The paths of the files `settings.json` below a directory, as found by going from one directory to the next. */
const find = (directory: string): string =>
  spawnSync('find', ['.', '-name', 'settings.json'], { cwd: directory, encoding: 'utf8' }).stdout

// The path of the second tree is too long only if its bytes are counted: it has about 1,700 characters, but more than 4,095 bytes.
test.each([deeper, deeperBy('\u4e2d', 20)])(
  'settings in a tree that is too deep for any path are removed together with their directory: %s',
  async (go) => {
    const workspace = await temporaryDirectory()
    onTestFinished(() => void spawnSync('rm', ['-rf', workspace]))
    const sandbox = await openFor({ mode: 'workspace-write', workspace })
    const ran = await run(sandbox, `${go}; ${settings}`)
    expect(codeOf(ran)).toBe(0)
    expect(ran.result.denials).toMatchObject([{ kind: 'quarantine', rule: 'too deep to be searched' }])
    expect(find(workspace)).toBe('')
  },
)

test('a deep tree that existed before stays, and one that a command removes again does not count', async () => {
  const workspace = await temporaryDirectory()
  onTestFinished(() => void spawnSync('rm', ['-rf', workspace]))
  spawnSync('sh', ['-c', `${deeper}; ${settings}`], { cwd: workspace })
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(sandbox, `mkdir x; cd x; ${deeper}; cd ${workspace}; rm -rf x`)).result.denials).toEqual([])
  expect(find(workspace)).toContain('settings.json')
})
