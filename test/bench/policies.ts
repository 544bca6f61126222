import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { checkCommand, loadRules, type CheckOptions } from '../../policies/index.ts'
import type { BenchRow } from './row.ts'

const options: CheckOptions = { approvalMode: 'untrusted', sandbox: 'workspace-write' }
const typical = [
  'git status --short && git diff --stat | head -50',
  "bash -lc 'cd src && rg -n TODO | head -20'",
  'npm test -- --run',
  'for f in src/*.ts; do wc -l "$f"; done',
]

/**
 * Measures how long the Guardian takes to decide: in a warm process, in a new process, with many rules, for a table of commands, and for a huge
 * command line.
 */
export function policiesBench(): Promise<readonly BenchRow[]> {
  const rules = loadRules([{ path: 'bench.rules', layer: 'user', text: manyRules(10_000) }])
  const table = Array.from({ length: 10_000 }, (_, at) => `${typical[at % typical.length] ?? 'ls'} # ${at}`)
  return Promise.resolve([
    {
      name: 'policies: 1,000 decisions',
      ours: { wallMs: median(9, () => decideTypical(options)) },
      note: 'warm, four typical commands',
    },
    {
      name: 'policies: 1,000 decisions under 10,000 rules',
      ours: { wallMs: median(9, () => decideTypical({ ...options, rules })) },
    },
    {
      name: 'policies: a table of 10,000 commands',
      ours: { wallMs: median(3, () => table.forEach((line) => checkCommand(line, options))) },
    },
    {
      name: 'policies: load 10,000 rules',
      ours: { wallMs: median(3, () => loadRules([{ path: 'b', layer: 'user', text: manyRules(10_000) }])) },
    },
    {
      name: 'policies: first decision of a process',
      ours: { wallMs: firstDecision() },
      note: 'from the built bundle, loading it not counted',
    },
    {
      name: 'policies: a command line of 1 MB',
      ours: { wallMs: median(9, () => checkCommand(`echo ${'a'.repeat(1_000_000)}`, options)) },
      note: 'refused as unknown',
    },
  ])
}

function decideTypical(under: CheckOptions): void {
  for (let at = 0; at < 1_000; at++) checkCommand(typical[at % typical.length] ?? 'ls', under)
}

function manyRules(count: number): string {
  return Array.from(
    { length: count },
    (_, at) => `prefix_rule(pattern=["tool${at}", "run"], decision="${at % 2 === 0 ? 'allow' : 'forbidden'}")`,
  ).join('\n')
}

function firstDecision(): number {
  const bundle = new URL('../../dist/policies/index.js', import.meta.url).href
  const script = `const {checkCommand} = await import(${JSON.stringify(bundle)})
const start = performance.now()
checkCommand(${JSON.stringify(typical[0])}, ${JSON.stringify(options)})
console.log(performance.now() - start)`
  const times = Array.from({ length: 5 }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })),
  )
  return middle(times)
}

function median(runs: number, work: () => unknown): number {
  work()
  return middle(
    Array.from({ length: runs }, () => {
      const start = performance.now()
      work()
      return performance.now() - start
    }),
  )
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}
