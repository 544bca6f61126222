import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { loads, writeLoad } from './generate-patch-loads.ts'
import { measureInTurns, type Measured, type MeasuredProgram } from './measure.ts'
import { oldBuild } from './old-build.ts'
import { findCodex } from './peer.ts'
import type { BenchRow } from './row.ts'

const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname
const bundle = new URL('../../dist/apply-patch/index.js', import.meta.url).href
const runs = 5
/** The letters of the loads for which Codex needs several seconds in each run. */
const slowForThePeer = ['d', 'h']
/** The letter of the load that must be refused. */
const refused = 'h'
/** The letter of the load for which the program does little more than start. An empty script is measured for comparison. */
const smallest = 'a'
/** The letter of the load with many files. It is also measured through the library, in-process, so that no program has to start. */
const embedded = 'b'

/**
 * Measures how our program and the peer apply patches. They take turns, and get a fresh copy of the tree each time. The peer is Codex, or the build
 * that is compared with.
 */
export async function patchLoads(): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'apply-patch-bench-'))
  spreadCopies(folder)
  // With this variable, the library keeps its journals in the same place as the program.
  process.env['XDG_STATE_HOME'] = join(folder, 'state')
  try {
    const codex = oldBuild === undefined ? await linkPeer(folder) : undefined
    const old = oldBuild === undefined ? undefined : join(oldBuild, 'dist/bin/apply-patch.js')
    const beside: MeasuredProgram['argv'] | undefined =
      old !== undefined ? [process.execPath, old] : codex === undefined ? undefined : [codex]
    const empty = join(folder, 'empty.mjs')
    await writeFile(empty, '')
    const rows: BenchRow[] = []
    for (const [letter, { title, make }] of Object.entries(loads)) {
      const load = join(folder, letter)
      writeLoad(load, make())
      const patch = readFileSync(join(load, 'patch'))
      const directory = (): Promise<string> => copyOf(load)
      const measured = (argv: MeasuredProgram['argv']): Measured => {
        return { argv, directory, stdin: patch, exitCode: letter === refused ? 1 : 0 }
      }
      const all: readonly (readonly [name: string, Measured] | undefined)[] = [
        beside === undefined ? undefined : ['peer', measured(beside)],
        letter === smallest ? ['an empty Node script', measured([process.execPath, empty])] : undefined,
        [`${letter}: ${title}`, measured([process.execPath, program])],
        letter === embedded ? [`${letter} in-process`, { directory, act: await embed(patch) }] : undefined,
      ]
      const programs = all.filter((one) => one !== undefined)
      const count = oldBuild === undefined && slowForThePeer.includes(letter) ? 2 : letter === smallest ? 21 : runs
      const costs = await measureInTurns(
        programs.map(([, one]) => one),
        count,
      )
      const peer = beside === undefined ? undefined : costs[0]
      for (const [index, [name]] of programs.entries()) {
        const ours = costs[index]
        if (ours === undefined || name === 'peer') continue
        rows.push({ name, ours, ...(peer && { peer }), note: `median of ${count}` })
      }
    }
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Places each copy of a tree in its own part of the disk if the file system supports that (ext4). For some minutes, ext4 doesn't reuse a deleted
 * inode, and it checks all such inodes whenever a file is created nearby. Without this call, earlier runs would therefore slow down later ones.
 */
function spreadCopies(folder: string): void {
  spawnSync('chattr', ['+T', folder], { stdio: 'ignore' })
}

/** Returns a function that applies the patch, as in a program that has already loaded the library. */
async function embed(patch: Uint8Array): Promise<(root: string) => Promise<unknown>> {
  const library: unknown = await import(bundle)
  const { parsePatch, planPatch, commit } = library as typeof import('../../apply-patch/index.ts')
  return async (root) => commit(await planPatch(parsePatch(patch).patch, { root }))
}

async function copyOf(load: string): Promise<string> {
  const copy = await mkdtemp(`${load}-`)
  await cp(join(load, 'tree'), copy, { recursive: true })
  return copy
}

/** Creates a link to Codex with the name `apply_patch`. If Codex is started under this name, it applies a patch. */
async function linkPeer(folder: string): Promise<string | undefined> {
  const codex = findCodex()
  if (codex === undefined) return undefined
  const link = join(folder, 'apply_patch')
  await symlink(codex, link)
  return link
}
