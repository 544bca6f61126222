import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCollector } from '../support/collector.ts'
import { call, say, startMockOpenAI } from '../support/mock-openai.ts'
import { measureInTurns } from './measure.ts'
import { thisBuild } from './old-build.ts'
import type { BenchRow } from './row.ts'
import { ours } from './runs.ts'

const scenarios = [
  { name: 'one reply', calls: 0, runs: 15 },
  { name: '20 shell calls', calls: 20, runs: 7 },
] as const

/**
 * Measures what telemetry costs. A run with telemetry off, as is the default, is compared with three others: one of a program without the telemetry
 * code, one that writes all telemetry to a file, and one that sends it to a collector on loopback. The four take turns.
 */
export async function telemetryBench(): Promise<readonly BenchRow[]> {
  const work = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  const without = await buildWithoutTelemetry(work)
  const collector = await startCollector()
  try {
    const rows: BenchRow[] = []
    for (const { name, calls, runs } of scenarios) {
      const mock = await startMockOpenAI({
        replies: (_, index) => {
          const at = index % (calls + 1)
          return [at < calls ? call('exec_command', { cmd: `true ${at}` }) : say('done')]
        },
      })
      try {
        const [off, ...others] = await measureInTurns(
          [
            ours(mock, work, thisBuild),
            ours(mock, work, without),
            ours(mock, work, thisBuild, ['-c', `otel.file=${join(work, 'otel.jsonl')}`]),
            ours(mock, work, thisBuild, ['-c', `otel.endpoint=${collector.url}`]),
          ],
          runs,
        )
        const peers = ['the program without its code', 'into a file', 'to a collector on loopback']
        for (const [at, peer] of others.entries()) {
          if (off === undefined) continue
          rows.push({ name: `${name}, telemetry off`, ours: off, peer, note: `peer: ${peers[at]}; median of ${runs}` })
        }
      } finally {
        await mock.close()
      }
    }
    // If the collector complains, it didn't understand the data, so the measurements of sending that data mean nothing.
    if (collector.complaints.length > 0) throw new Error(`the collector complains: ${collector.complaints[0]}`)
    return rows
  } finally {
    await collector.close()
    await rm(work, { recursive: true, force: true })
  }
}

/** Copies the build, removes telemetry's code from the copy, and returns the copy's directory. */
async function buildWithoutTelemetry(work: string): Promise<string> {
  const copy = join(work, 'without')
  await cp(join(thisBuild, 'dist'), join(copy, 'dist'), { recursive: true })
  await cp(join(thisBuild, 'package.json'), join(copy, 'package.json'))
  await rm(join(copy, 'dist/chunks/open-telemetry.js'))
  return copy
}
