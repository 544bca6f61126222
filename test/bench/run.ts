/**
 * `npm run bench [NAME…]` runs the benchmarks, and prints a table. Our program and the peer take turns in one run, because only their ratio is
 * meaningful on a shared machine. The peer is Codex, found by CODEX_BIN or as `codex` on PATH. Without it, the peer's columns stay empty. If `OLD` is
 * the directory of a build of another commit, that build is the peer in `patch`, `sandbox` and `run`.
 */
import process from 'node:process'
import type { BenchRow } from './row.ts'
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

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  process.stderr.write(`bench: unknown: ${unknown.join(', ')}; known: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
for (const name of asked.length === 0 ? Object.keys(benches) : asked) {
  process.stdout.write(`\n${name}\n`)
  process.stdout.write(`${renderTable((await benches[name]?.()) ?? [])}\n`)
}
