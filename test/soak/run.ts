/**
 * `npm run soak -- [OPTIONS]` runs what takes too long for the tests. It prints counts and what went wrong, and exits with 1 if anything did.
 * `--only` selects some of these parts:
 *
 * - `fuzz`: random command lines (`--seconds N`, `--seed N`)
 * - `helper`: random plans, command lines and results of system calls for the helper in C, with sanitizers (`--runs N` for each of its parts)
 * - `matrix`: every attack by everything that acts in a run (`--backend bubblewrap,docker`, `--user root,ordinary`)
 * - `races`: races, each tried many times (`--tries N`, and also `--backend` and `--user`)
 * - `transactions`: every kind of change with every way in which a transactional run can end (`--of landing,copy,overlay,reflink`)
 * - `batches`: batches of many tasks (`--tasks N`, `--carrier here,redis`)
 * - `outages`: batches whose Redis is dead for minutes, or whose quota is used up at the seventh of a thousand tasks
 * - `patches`: commits of real repositories as patches, also with the mistakes that models make
 *   (`--repositories DIRECTORY,…`, `--commits N` of each, `--mistaken N` of these also with mistakes, `--seed N`)
 * - `scenarios`: the scenarios of Codex's apply-patch, from a copy of its repository (`--scenarios DIRECTORY`)
 * - `chaos`: runs whose provider's answers are refused, cut, reset and otherwise disturbed (`--chaos-runs N`, `--seed N`)
 * - `rates`: 32 runs at once under a token limit (`--carrier`)
 * - `tests`: all tests of the projects `soak` and `attacks`, of which `.ci/run` runs a third
 * - `newcomer`: all tests as an ordinary user with an empty home, without docker and strace
 */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { Row } from '../engine/attacks/rows.ts'
import { actors, runMatrix } from '../engine/attacks/matrix.ts'
import { programFor, type User } from '../engine/attacks/scene.ts'
import { describeRow, runHistory } from '../apply-patch/history/run-history.ts'
import { runScenarios } from '../apply-patch/history/run-scenarios.ts'
import { carriers, runManyTasks } from '../engine/batch/many-tasks.ts'
import { runManyChaos } from '../engine/chaos/run-chaos.ts'
import { runRateTrial } from '../engine/batch/rate-limit-trial.ts'
import { runTransactions, transactionParts } from '../engine/transaction/battery/soak.ts'
import { fuzzHelper } from '../sandbox/helper-fuzz/run-fuzz.ts'
import { runRacesAs } from '../sandbox/races/run-races.ts'

const known = [
  'fuzz',
  'helper',
  'matrix',
  'races',
  'transactions',
  'batches',
  'outages',
  'patches',
  'scenarios',
  'chaos',
  'rates',
  'tests',
  'newcomer',
] as const
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: known.join(',') },
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string' },
    runs: { type: 'string', default: '10000000' },
    backend: { type: 'string', default: 'bubblewrap,docker' },
    user: { type: 'string', default: process.geteuid?.() === 0 ? 'root,ordinary' : 'root' },
    tries: { type: 'string', default: '200' },
    carrier: { type: 'string', default: 'here,redis' },
    tasks: { type: 'string', default: '3000' },
    repositories: { type: 'string', default: '' },
    commits: { type: 'string', default: '300' },
    mistaken: { type: 'string', default: '60' },
    scenarios: { type: 'string' },
    'chaos-runs': { type: 'string', default: '200' },
    of: { type: 'string', default: transactionParts.join(',') },
  },
})
const listed = <T extends string>(
  name: 'only' | 'backend' | 'user' | 'carrier' | 'of',
  all: readonly T[],
): readonly T[] =>
  values[name].split(',').map((each) => {
    const found = all.find((one) => one === each)
    if (found === undefined) throw new Error(`--${name} ${each} is unknown; known: ${all.join(', ')}`)
    return found
  })
const parts = listed('only', known)
const backends = listed('backend', ['bubblewrap', 'docker'])
const users: readonly User[] = listed('user', ['root', 'ordinary'])
let failed = false

/** Runs a program in the folder of the project, and returns why it failed, if it did. */
function start(program: string, words: readonly string[], variables: Readonly<Record<string, string>> = {}): string[] {
  const { status } = spawnSync(program, words, {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, ...variables },
    stdio: 'inherit',
  })
  return status === 0 ? [] : [`${program} ended with ${status}`]
}

function runTests(words: readonly string[], variables: Readonly<Record<string, string>>): string[] {
  const vitest = new URL('../../node_modules/vitest/vitest.mjs', import.meta.url).pathname
  return start(process.execPath, [vitest, 'run', ...words], variables)
}

/** Prints a line of the table, and the failures below it. */
function tell(words: readonly string[], count: string, failures: readonly string[]): void {
  const first = words.map((word) => `${word} `.padEnd(12)).join('')
  process.stdout.write(
    `${first}${count.padStart(12)}  ${failures.length === 0 ? 'holds' : `${failures.length} FAILED`}\n`,
  )
  for (const failure of failures) process.stdout.write(`    ${failure}\n`)
  failed ||= failures.length > 0
}

if (parts.includes('fuzz')) {
  const program = new URL('../policies/fuzz/run.ts', import.meta.url).pathname
  const seed = values.seed === undefined ? [] : ['--seed', values.seed]
  const { status } = spawnSync(process.execPath, [program, '--seconds', values.seconds, ...seed], { stdio: 'inherit' })
  failed ||= status !== 0
}
if (parts.includes('helper')) {
  fuzzHelper(Number(values.runs), (kind, part, runs, failures) =>
    tell(['helper', kind, part], `${runs} runs`, failures),
  )
}
if (parts.includes('matrix')) {
  for (const user of users) {
    const program = programFor(user)
    try {
      for (const backend of backends) {
        // Each actor is tried in a separate run, so that they don't interfere with each other.
        for (const actor of actors) {
          const [tried] = await runMatrix({
            user,
            backend,
            program,
            tries: { [actor]: (rows: readonly Row[]) => rows },
          })
          if (tried !== undefined) tell([backend, user, actor], `${tried.rows} rows`, tried.failures)
        }
      }
    } finally {
      program.close()
    }
  }
}
if (parts.includes('races')) {
  for (const user of users) {
    for (const backend of backends) {
      for (const { race, tries, failures } of await runRacesAs(user, backend, Number(values.tries)))
        tell([backend, user, race], `${tries} tries`, failures)
    }
  }
}
if (parts.includes('transactions')) {
  for await (const { strategy, end, tries, failures } of runTransactions(listed('of', transactionParts)))
    tell([strategy, end], `${tries} runs`, failures)
}
if (parts.includes('batches')) {
  for (const carrier of listed('carrier', carriers)) {
    const { tasks, figures, failures } = await runManyTasks(carrier, Number(values.tasks))
    tell(['batch', carrier], `${tasks} tasks`, failures)
    for (const figure of figures) process.stdout.write(`    ${figure}\n`)
  }
}
if (parts.includes('outages')) {
  // The tests of these files take longer if `SOAK` is set.
  const files = ['outages', 'quota'].map((name) => `test/engine/batch/${name}.test.ts`)
  tell(['outages'], `${files.length} files`, runTests(['--project', 'soak', ...files], { SOAK: '1' }))
}
if (parts.includes('patches')) {
  const repositories = values.repositories.split(',').filter((path) => path !== '')
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const [commits, mistaken] = [Number(values.commits), Number(values.mistaken)]
  if (repositories.length === 0)
    process.stdout.write('patches     skipped: name repositories with --repositories DIRECTORY,…\n')
  else {
    const { rows, failures } = await runHistory({ repositories, commits, mistaken, seed })
    tell(['patches'], `seed ${seed}`, failures)
    for (const row of rows) process.stdout.write(`    ${describeRow(row)}\n`)
  }
}
if (parts.includes('scenarios')) {
  if (values.scenarios === undefined)
    process.stdout.write("scenarios   skipped: name the folder of Codex's scenarios with --scenarios DIRECTORY\n")
  else {
    const { right, told, failures } = runScenarios(values.scenarios)
    tell(['scenarios'], `${right} as Codex`, failures)
    for (const each of told) process.stdout.write(`    different on purpose: ${each}\n`)
  }
}
if (parts.includes('chaos')) {
  const { met, failures } = await runManyChaos(Number(values['chaos-runs']), Number(values.seed ?? 1))
  tell(['chaos'], `${values['chaos-runs']} runs`, failures)
  for (const [fault, count] of Object.entries(met)) process.stdout.write(`    ${fault}: ${count}\n`)
}
if (parts.includes('rates')) {
  const minutes = 3
  for (const carrier of listed('carrier', carriers)) {
    const { figures, failures } = await runRateTrial(carrier, minutes)
    tell(['rates', carrier], `${minutes} minutes`, failures)
    for (const figure of figures) process.stdout.write(`    ${figure}\n`)
  }
}
if (parts.includes('tests')) {
  const projects = ['soak', 'attacks']
  const failures = runTests(
    projects.flatMap((name) => ['--project', name]),
    { SEARCH: 'full' },
  )
  tell(['tests'], `${projects.length} projects`, failures)
}
if (parts.includes('newcomer')) tell(['newcomer'], 'all tests', start('bash', ['.ci/as-a-newcomer', '--all']))
if (failed) process.exitCode = 1
