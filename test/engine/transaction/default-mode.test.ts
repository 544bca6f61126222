import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { expectOnlyJudged, plantings } from './default-mode-plantings.ts'
import { cmd } from './overlay-runs.ts'

describe.skipIf(needsBubblewrap())(
  'after a run by default, the tree and the git directory hold only what was judged',
  () => {
    test.each(plantings)('%s', async (_, command) => {
      await expectOnlyJudged(command)
    })
  },
)

test.skipIf(needsBubblewrap())('in place, every event and the summary say that no change is judged', async () => {
  const inPlace = await exec([cmd('echo b > a.txt'), [say('done')]], ['--json', '--in-place', 'x'], {
    cwd: repository({ 'a.txt': 'a\n' }),
  })
  expect(inPlace.events.map((event) => ('in_place' in event ? event.in_place : undefined))).toEqual(
    inPlace.events.map(() => 'not judged'),
  )
  expect(inPlace.stderr).toMatch(/^model .*\(bubblewrap, in place: not judged\)/)
  expect(inPlace.stderr).toMatch(/^  in place: not judged$/m)
  const onView = await exec([[say('done')]], ['--json', 'x'], { cwd: repository() })
  expect(onView.events.filter((event) => 'in_place' in event)).toEqual([])
})

test.skipIf(needsBubblewrap())(
  'changes that did not land lie as a patch beside the report, but never in the tree',
  async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const reports = tempDir()
    const steps = (index: number): Reply => (index === 0 ? cmd('echo b > a.txt') : [say('done')])
    const ended = await exec(steps, ['--verify', 'false', '--report', join(reports, 'run.html'), 'x'], { cwd })
    expect(ended.code, ended.stderr).toBe(1)
    execFileSync('git', ['apply', join(reports, 'run.changes.patch')], { cwd })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
    await exec(steps, ['--land', 'never', '-o', 'said.txt', 'x'], { cwd })
    await exec(steps, ['-o', join(reports, 'good.txt'), 'x'], { cwd: repository({ 'a.txt': 'a\n' }) })
    expect([readdirSync(cwd), readdirSync(reports)].flat().filter((name) => name.endsWith('.patch'))).toEqual([
      'run.changes.patch',
    ])
  },
)
