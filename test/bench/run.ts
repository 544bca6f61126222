/**
 * `npm run bench [NAME…]` runs the benchmarks, and prints a table. Our program and the peer take turns in one run, because only their ratio is
 * meaningful on a shared machine. The peer is Codex, found by CODEX_BIN or as `codex` on PATH. Without it, the peer's columns stay empty. With
 * `--against DIRECTORY`, the peer is the build of another commit in that directory, in `patch`, `sandbox` and `run`, which are then the only ones by default;
 * the exit code is 1 if this build takes more than 1.15 times its processor time (or time, where that wasn't measured) in any row. `--instructions` counts
 * instructions instead, and compares them with the checked-in baseline, or with `--record` replaces that.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { BenchRow } from './row.ts'
import { compareWith } from './old-build.ts'
import { renderTable } from './table.ts'

/** The benchmarks by their names on the command line. Each is loaded only when it runs, so that loading the others doesn't affect it. */
const benches: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  patch: async () => (await import('./patch-loads.ts')).patchLoads(),
  policies: async () => (await import('./policies.ts')).policiesBench(),
  sandbox: async () => (await import('./sandbox.ts')).sandboxBench(),
  tools: async () => (await import('./tools.ts')).toolsBench(),
  credentials: async () => (await import('./credentials.ts')).credentialsBench(),
  hooks: async () => (await import('./hooks.ts')).hooksBench(),
  run: async () => (await import('./runs.ts')).runsBench(),
  telemetry: async () => (await import('./telemetry.ts')).telemetryBench(),
  long: async () => (await import('./long-runs.ts')).longRunsBench(),
  judge: async () => (await import('./judge.ts')).judgeBench(),
  transactional: async () => (await import('./transactional.ts')).transactionalBench(),
}

/** How many times as much as another build this one may take. Noise stays below that. */
const mostRatio = 1.15

const { positionals: asked, values } = parseArgs({
  options: { against: { type: 'string' }, instructions: { type: 'boolean' }, record: { type: 'boolean' } },
  allowPositionals: true,
})
if (values.instructions === true) {
  process.exit(await (await import('./instructions.ts')).compareInstructions(values.record === true))
}
const unknown = asked.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  process.stderr.write(`bench: unknown: ${unknown.join(', ')}; known: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const against = values.against === undefined ? undefined : compareWith(values.against)
if (values.against !== undefined && against === undefined) {
  process.stderr.write(
    `bench: ${values.against} contains no build (dist/bin/agent.js): run npm ci && npm run build there\n`,
  )
  process.exit(2)
}
const usual = against === undefined ? Object.keys(benches) : ['patch', 'sandbox', 'run']
for (const name of asked.length === 0 ? usual : asked) {
  process.stdout.write(`\n${name}\n`)
  const rows = (await benches[name]?.()) ?? []
  process.stdout.write(`${renderTable(rows)}\n`)
  if (against === undefined) continue
  for (const { name: row, ours, peer } of rows) {
    const ratio = peer === undefined ? 0 : (ours.cpuMs ?? ours.wallMs) / (peer.cpuMs ?? peer.wallMs)
    if (ratio <= mostRatio) continue
    process.stderr.write(`bench: ${name}, ${row}: ${ratio.toFixed(2)} times as much as in ${against}\n`)
    process.exitCode = 1
  }
}
