import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { recordLines, type RunRecord } from '../../../engine/core/run-record.ts'
import type { Item } from '../../../engine/core/events.ts'
import { CommandsSeen } from '../../../engine/run/record/commands-seen.ts'
import { calls, says, scriptedRun, type Response } from '../../support/scripted-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Row = {
  readonly command: string
  /** The exit code; null if the command was refused. */
  readonly exit: number | null
  readonly output: string
  /** What the record says about the command. */
  readonly lines: readonly string[]
}

const rows = readFileSync(new URL('../../../fixtures/recorded-commands.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

const empty: RunRecord = {
  ...{ tests: [], verified: [], pushed: [], commits: [], refused: [] },
  files: { created: [], changed: [], deleted: [], tests: [] },
}

const itemOf = ({ command, exit, output }: Omit<Row, 'lines'>): Item => ({
  id: 'item_0',
  type: 'command_execution',
  command: `/bin/bash -lc '${command.replaceAll("'", `'\\''`)}'`,
  aggregated_output: output,
  exit_code: exit,
  status: exit === null ? 'declined' : exit === 0 ? 'completed' : 'failed',
  call_id: 'call_0',
  cwd: '/w',
})

/** Returns the lines about tests and pushes for these commands. */
function linesOf(...items: readonly Item[]): readonly string[] {
  const seen = new CommandsSeen()
  for (const item of items) seen.see(item)
  return recordLines({ ...empty, ...seen.told('/w') })
    .map(({ name, words }) => `${name}: ${words}`)
    .filter((line) => line !== 'commits: none' && line !== 'tests: none ran' && line !== 'pushed: nothing')
}

test.each(rows)('the record says what came of $command (exit code $exit)', (row) => {
  expect(linesOf(itemOf(row))).toEqual(row.lines)
})

describe('a command that ran several times', () => {
  const ran = (command: string, exit: number, output = ''): Item => itemOf({ command, exit, output })

  test('is told once, with its last outcome', () => {
    const items = [
      ran('npm test', 1, '5 failed'),
      ran('npm test', 0),
      ran('npm test', 1, '2 failed'),
      ran('make check', 0),
    ]
    expect(linesOf(...items)).toEqual([
      'tests: npm test: failed, exit 1, 2 failed, last of 3',
      'tests: make check: passed',
    ])
  })

  test('is told for each directory', () => {
    const there = { ...ran('npm test', 1), cwd: '/w/app' } as Item
    expect(linesOf(ran('npm test', 0), there)).toEqual([
      'tests: npm test: passed',
      'tests: npm test (in /w/app): failed, exit 1',
    ])
  })
})

let made = 0
const command =
  (cmd: string): Response =>
  () => [calls('exec_command', { cmd }, `call-${made++}`)]
const say =
  (text: string): Response =>
  () => [says(text)]

function repository(): string {
  const workspace = tempDir()
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-C', workspace, '-c', 'user.name=n', '-c', 'user.email=e@localhost', ...words])
  }
  git('init', '-q', '-b', 'main')
  for (const name of ['a', 'b', 'c.test.js']) writeFileSync(join(workspace, name), `${name}\n`)
  writeFileSync(join(workspace, 'run-tests.sh'), 'echo "3 failed, 1 passed"; exit 1')
  git('add', '-A')
  git('commit', '-qm', 'first')
  return workspace
}

test('the terminal event and the summary tell the record, whatever the final message says', async () => {
  const identity = '-c user.name=n -c user.email=e@localhost'
  const { summary, events } = await scriptedRun({
    responses: [
      command('sh ./run-tests.sh'),
      command(`rm b && echo x >> c.test.js && echo d > d && git add -A && git ${identity} commit -qm 'Do it'`),
      command(`git switch -qc other && git ${identity} commit -q --allow-empty -m 'Elsewhere' && git switch -q main`),
      command('git push origin main'),
      command('sh ./run-tests.sh'),
      say('All tests pass, and I pushed everything.'),
    ],
    workspace: repository(),
  })
  const { record } = summary
  expect(record).toMatchObject({
    tests: [{ command: 'sh ./run-tests.sh', outcome: 'failed', exit_code: 1, failed: 3, runs: 2 }],
    verified: [],
    pushed: [{ command: 'git push origin main', outcome: 'failed' }],
    files: { created: ['d'], changed: ['c.test.js'], deleted: ['b'], tests: ['c.test.js'] },
    refused: [],
  })
  expect(record?.commits?.map(({ subject }) => subject).toSorted()).toEqual(['Do it', 'Elsewhere'])
  expect(events.at(-1)).toMatchObject({ type: 'turn.completed', record })
})

test('commits that were only fetched or checked out are not told as made', async () => {
  const workspace = repository()
  execFileSync(
    'git',
    [
      '-C',
      workspace,
      '-c',
      'user.name=n',
      '-c',
      'user.email=e@localhost',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'second',
    ],
    {
      env: { ...process.env, GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' },
    },
  )
  execFileSync('git', ['-C', workspace, 'checkout', '-q', 'HEAD~'])
  const { summary } = await scriptedRun({ responses: [command('git checkout -q main'), say('ok')], workspace })
  expect(summary.record?.commits).toEqual([])
})

test('the record of a run without commands says that nothing happened', async () => {
  const { summary } = await scriptedRun({ responses: [say('All tests pass.')] })
  expect(summary.record).toEqual(empty)
})
