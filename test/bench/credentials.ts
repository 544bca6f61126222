import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { makeCertificate } from '../support/certificate.ts'
import type { Measured, WorkSettings } from './credentials-work.ts'
import type { BenchRow } from './row.ts'

const [rounds, requests, bytes] = [5, 300, 1024 ** 3]

/**
 * Measures what a request with a credential costs. The peer is a tunnel of the same proxy, through which the client itself speaks TLS. Both take turns in one
 * run, with the site, the proxies and the client in processes of their own.
 */
export async function credentialsBench(): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const started: Worker[] = []
  try {
    const begin = async (kind: string, settings: Partial<WorkSettings>): Promise<Worker> => {
      const worker = start(kind, settings)
      started.push(worker)
      return worker
    }
    const issued = makeCertificate(folder, ['api.test'])
    const rows: BenchRow[] = []
    for (const type of ['application/octet-stream', 'text/plain']) {
      const common = { ...issued, requests, bytes, type }
      const site = (await (await begin('site', common)).next()) as number
      const measured = []
      for (const adds of [true, false]) {
        const worker = await begin('proxy', { ...common, site, adds })
        measured.push({
          adds,
          worker,
          proxy: (await worker.next()) as number,
          all: [] as Measured[],
          memory: [] as number[],
        })
      }
      for (let round = 0; round <= rounds; round++) {
        for (const { adds, proxy, worker, all, memory } of measured) {
          const one = (await (await begin('client', { ...common, site, proxy, adds })).next()) as Measured
          if (round > 0) all.push(one)
          worker.child.stdin.write('\n')
          memory.push((await worker.next()) as number)
        }
      }
      const [ours, peer] = measured.map(({ all, memory }) => ({
        median: middle(all.map(({ median }) => median)),
        download: middle(all.map(({ download }) => download)),
        first: middle(all.map(({ first }) => first)),
        memory,
      }))
      if (ours === undefined || peer === undefined) break
      const note = 'peer: a tunnel to the same site'
      if (rows.length === 0) {
        rows.push(
          { name: 'a request, the first', ours: { wallMs: ours.first }, peer: { wallMs: peer.first }, note },
          { name: 'a request, later ones', ours: { wallMs: ours.median }, peer: { wallMs: peer.median }, note },
        )
      }
      const [after, last] = [ours.memory[0] ?? 0, ours.memory.at(-1) ?? 0]
      rows.push({
        name: `1 GB of ${type}`,
        ours: { wallMs: ours.download, peakMiB: Math.max(...ours.memory) },
        peer: { wallMs: peer.download, peakMiB: Math.max(...peer.memory) },
        note: `memory of the proxy after 1 GB ${after.toFixed(0)} MiB, after ${rounds + 1} GB ${last.toFixed(0)} MiB`,
      })
    }
    return rows
  } finally {
    for (const { child } of started) child.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

type Worker = { readonly child: ChildProcessByStdio<Writable, Readable, null>; readonly next: () => Promise<unknown> }

function start(kind: string, settings: Partial<WorkSettings>): Worker {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'credentials-work.ts'), kind, JSON.stringify(settings)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    child,
    next: async () => {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the ${kind} ended`)
      return JSON.parse(value as string) as unknown
    },
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
