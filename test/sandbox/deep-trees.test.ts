import { spawnSync } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

const deeper = 'for i in $(seq 75); do n=$(printf "d%.0s" $(seq 80)); mkdir -p $n; cd -P $n || exit 1; done'
const settings = 'mkdir .claude; echo planted > .claude/settings.json'

/** The paths of the files `settings.json` below a directory, as found by going from one directory to the next. */
const find = (directory: string): string =>
  spawnSync('find', ['.', '-name', 'settings.json'], { cwd: directory, encoding: 'utf8' }).stdout

test('a tree that is too deep for any path stays, and disturbs no command', async () => {
  const workspace = await temporaryDirectory()
  onTestFinished(() => void spawnSync('rm', ['-rf', workspace]))
  spawnSync('sh', ['-c', `${deeper}; ${settings}`], { cwd: workspace })
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(sandbox, `mkdir x; cd x; ${deeper}; cd ${workspace}; rm -rf x`)).result.denials).toEqual([])
  expect(find(workspace)).toContain('settings.json')
})
