import type { Readable } from 'node:stream'
import { keyOf, parseConfigFile } from './config-file.ts'
import { importConfig } from './import-config.ts'
import { importScope, oidsOf, readScope } from './import-files.ts'
import { importLogs, isLogged, readLogs } from './import-logs.ts'
import { changedRefs, importRefs } from './import-refs.ts'
import {
  type PackObjects,
  type NewObjects,
  type ImportNote,
  type ImportResult,
  type ImportSides,
  type Known,
} from './import-types.ts'
import { arePackedRefsWhole, isOid, parseRef, readRefs, sharedRefs } from './refs.ts'
import { importShallow } from './import-shallow.ts'

/** The maximum size, in bytes, of the pack of objects that one command may add to a repository. */
const largestPack = 4 * 1024 ** 3
const largestConfig = 4 * 1024 * 1024

/**
 * Imports the changes that commands made in the private repository into the host's repository. Objects are transferred as a pack, which the host's
 * git checks. Everything else is parsed here byte by byte, and written by the host's git or by this program. Nothing that git would run can be
 * imported.
 *
 * @param objects the objects that the host must receive first
 * @returns the result, and whether the host now has all objects
 */
export async function importChanges(
  sides: ImportSides,
  known: Known,
  objects: NewObjects,
): Promise<ImportResult & { readonly complete: boolean }> {
  const { left, oidBytes } = sides
  const notes: ImportNote[] = []
  const refs = readRefs(left, oidBytes)
  if (refs === undefined)
    return {
      notes: [{ subject: 'refs (there are too many of them)', advice: 'remove some' }],
      stale: true,
      complete: false,
    }
  const head = parseRef(left.read('HEAD', 4096), oidBytes)
  const isWhole = known.refs.size === 0 || arePackedRefsWhole(left)
  if (head === undefined || !isWhole || left.stat('refs')?.kind !== 'directory') {
    const subject = 'git (the command left the repository in a state that git cannot read)'
    return {
      notes: [{ subject, advice: 'nothing was imported, and your repository is unchanged' }],
      stale: true,
      complete: false,
    }
  }
  // The changes are read before the objects, so that the objects include everything that the changes name.
  const changed = changedRefs(known, sharedRefs(refs))
  const scopes = sides.scopes.filter(({ writable }) => writable).map((scope) => readScope(sides, known, scope))
  const logs = readLogs(sides, known)
  const wanted = [
    ...changed.flatMap(({ now }) => (now === undefined ? [] : [now])),
    ...scopes.flatMap((scope) => oidsOf(sides, known, scope)),
    ...logs.flatMap(({ lines }) => lines.flatMap(({ old, oid }) => [old, oid])),
  ]
  const taken = await takeAll(sides, objects, [...known.refs.values()], wanted)
  if (taken.problem !== undefined) {
    const subject = `git objects (${taken.problem})`
    return {
      notes: [
        { subject, advice: "the command's commits, tags, stashes, staged changes and settings were not imported" },
      ],
      stale: false,
      complete: false,
    }
  }
  const { exists } = taken
  importShallow(sides, known)
  const imported = await importRefs(sides, known, changed, {
    exists,
    isLogged: (name, oid) => isLogged(sides, logs, name, oid),
    commits: objects.commits,
  })
  notes.push(...imported.notes)
  let { stale } = imported
  const sparse = importConfig(sides, known)
  for (const scope of scopes) {
    const result = await importScope(sides, known, scope, { refused: imported.refused, sparse, exists })
    notes.push(...result.notes)
    stale ||= result.stale
  }
  await importLogs(sides, known, logs, imported.refused, exists)
  return { notes, stale, complete: true }
}

type Exists = (oid: string) => boolean

/**
 * Passes the objects to the host's git, and then asks git which of the `named` objects exist. The `named` objects are those to which the imported
 * data will refer.
 *
 * @param refs the objects that the host's own refs name; the host certainly has these
 */
async function takeAll(
  sides: ImportSides,
  { given, packs, oids }: NewObjects,
  refs: readonly string[],
  named: readonly string[],
): Promise<{ readonly problem?: string; readonly exists: Exists }> {
  const wanted = [...new Set(named)].filter((oid) => isOid(oid, sides.oidBytes) && !/^0+$/.test(oid))
  let taken = given || packs.length === 0 ? whatExists(sides, wanted, new Set(refs)) : undefined
  if (taken !== undefined && wanted.every(taken)) return { exists: taken }
  let problem: string | undefined
  for (const [index, pack] of packs.entries()) {
    problem = await takeObjects(sides, pack)
    if (problem !== undefined) continue
    taken = whatExists(sides, wanted, new Set(index === 0 ? [...refs, ...oids] : refs))
    // If objects are still missing, the host has removed some that it had received earlier, so the next pack is tried.
    if (wanted.every(taken)) break
  }
  if (taken !== undefined) return { exists: taken }
  return { problem: problem ?? 'there is no pack', exists: () => false }
}

/** Passes the objects to the host's git. Returns undefined if git accepted them, otherwise its error. */
async function takeObjects({ git, host }: ImportSides, pack: PackObjects): Promise<string | undefined> {
  const { stdout, done } = pack()
  const header = await firstBytes(stdout, 12)
  if (header.length < 12) {
    stdout.resume()
    return (await done) ?? 'git created no pack in the sandbox'
  }
  const isEmpty = header.readUInt32BE(8) === 0
  if (isEmpty) {
    stdout.resume()
    return done
  }
  stdout.unshift(header)
  // Git reads `extensions.partialClone` only from the repository's own config file, not from files that it includes.
  const config = parseConfigFile(host.text('config', largestConfig) ?? '')
  const partial = config?.some((entry) => keyOf(entry) === 'extensions.partialclone') === true
  const words = ['index-pack', '--stdin', '--fsck-objects', `--max-input-size=${largestPack}`]
  const shallow = host.stat('shallow')?.kind === 'file'
  // `--strict` follows the links between objects, so it can't be used if parts of the history are missing on purpose.
  const result = await git.feed(host, [...words, ...(partial || shallow ? [] : ['--strict'])], stdout)
  const failed = await done
  return result.ok ? failed : result.complaint || failed || 'the pack was refused'
}

async function firstBytes(stream: Readable, count: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  while (length < count) {
    const chunk = stream.read() as Buffer | null
    if (chunk === null) {
      if (stream.readableEnded || stream.destroyed) break
      await new Promise<void>((resolve) => {
        const go = (): void => {
          for (const name of ['readable', 'end', 'close', 'error']) stream.off(name, go)
          resolve()
        }
        for (const name of ['readable', 'end', 'close', 'error']) stream.on(name, go)
      })
    } else {
      chunks.push(chunk)
      length += chunk.length
    }
  }
  return Buffer.concat(chunks)
}

/**
 * Asks the host's git, in a single call, which of the `wanted` objects exist. The objects in `sure` are known to exist, so git isn't asked about
 * them.
 */
function whatExists({ git, host }: ImportSides, wanted: readonly string[], sure: ReadonlySet<string>): Exists {
  const asked = wanted.filter((oid) => !sure.has(oid))
  if (asked.length === 0) return (oid) => sure.has(oid)
  const { stdout } = git.run(host, ['cat-file', '--batch-check=%(objectname)', '--buffer'], {
    input: Buffer.from(`${asked.join('\n')}\n`),
  })
  const there = new Set(stdout.toString().split('\n'))
  return (oid) => there.has(oid) || sure.has(oid)
}
