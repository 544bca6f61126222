import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { loads, writeLoad } from './generate-patch-loads.ts'
import { measureInTurns, type Measured } from './measure.ts'
import { findCodex } from './peer.ts'
import type { BenchRow } from './row.ts'

const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname
const runs = 5
/** Loads for which the peer needs seconds each time. */
const slowForThePeer = ['d', 'h']
/** The load that must be refused. */
const refused = 'h'

/** What applying costs, ours and Codex's in turns, each run on a fresh copy of the tree. */
export async function patchLoads(): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'apply-patch-bench-'))
  try {
    const peer = await linkPeer(folder)
    const alone: Measured = { argv: [process.execPath, '--eval', '0'], directory: () => Promise.resolve(folder) }
    const [start] = await measureInTurns([alone], runs)
    const rows: BenchRow[] = []
    if (start !== undefined) rows.push({ name: 'node alone', ours: start, note: 'subtract it for the cost in-process' })
    for (const [letter, { title, make }] of Object.entries(loads)) {
      const load = join(folder, letter)
      writeLoad(load, make())
      const count = slowForThePeer.includes(letter) ? 2 : runs
      const measured = (argv: Measured['argv']): Measured => ({
        argv,
        directory: () => copyOf(load),
        stdin: readFileSync(join(load, 'patch')),
        env: { XDG_STATE_HOME: join(folder, 'state') },
        exitCode: letter === refused ? 1 : 0,
      })
      const ours = measured([process.execPath, program])
      const [cost, theirs] = await measureInTurns(peer === undefined ? [ours] : [ours, measured([peer])], count)
      if (cost === undefined) continue
      const beside = theirs === undefined ? {} : { peer: theirs }
      rows.push({ name: `${letter}: ${title}`, ours: cost, ...beside, note: `median of ${count}` })
    }
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function copyOf(load: string): Promise<string> {
  const copy = await mkdtemp(`${load}-`)
  await cp(join(load, 'tree'), copy, { recursive: true })
  return copy
}

/** Codex takes a patch when it is called by this name. */
async function linkPeer(folder: string): Promise<string | undefined> {
  const codex = findCodex()
  if (codex === undefined) return undefined
  const link = join(folder, 'apply_patch')
  await symlink(codex, link)
  return link
}
