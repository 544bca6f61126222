import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { Backend } from '../backend.ts'
import { memoize } from '../memoize.ts'

/** A stored record, with the backend of its run: each backend ends leftover processes in its own way. */
type StoredTrust = z.infer<ReturnType<typeof storedTrust>>

/** The files that a guard recorded as the host's own before commands ran: everything that a review needs. */
export type Trust = StoredTrust['trust']

/** Compiled only if there is a record to read, which hardly ever happens at a start. */
const storedTrust = () => {
  const paths = z.array(z.string()).readonly()
  const trust = z.object({
    roots: paths,
    places: z.object({ gitDirectories: paths, gitLinks: paths, repositories: paths, protectedPaths: paths }),
    /** Identities of entries. */
    trusted: paths,
    /** The targets of symlinks, by the symlinks' paths. */
    symlinks: z.array(z.tuple([z.string(), z.string()])).readonly(),
  })
  return z.object({ backend: z.string(), trust })
}

/** Cached, because the list of protected paths is long and is the same for all commands of a run. */
const textOf = memoize((list: readonly string[]) => JSON.stringify(list))

/** The text is the same as that of `JSON.stringify`. */
function textOfKept(backend: Backend, { roots, places, trusted, symlinks }: Trust): string {
  const { protectedPaths, ...others } = places
  const before = JSON.stringify({ backend }).slice(0, -1)
  const where = `${JSON.stringify(others).slice(0, -1)},"protectedPaths":${textOf(protectedPaths)}}`
  const rest = JSON.stringify({ trusted, symlinks }).slice(1)
  return `${before},"trust":{"roots":${JSON.stringify(roots)},"places":${where},${rest}}`
}

/** Stores the trusted entries on disk while commands run, so that the review after them takes place even if this process is killed. */
export type TrustRecord = {
  keep(trust: Trust): void
  /** Removes the record after the review. */
  drop(): void
}

const name = 'unreviewed.json'

/** The record in a run's own directory. */
export function createTrustRecord(directory: string, backend: Backend): TrustRecord {
  const file = join(directory, name)
  const aside = `${file}.new`
  let written: string | undefined
  let kept = false
  return {
    keep: (trust) => {
      const text = textOfKept(backend, trust)
      if (kept && text === written) return
      // The previous command's record is kept in memory: the next one nearly always equals it.
      if (kept || text !== written) writeFileSync(aside, text, { mode: 0o600 })
      written = undefined
      // The file is renamed into place, because half a record would be useless.
      renameSync(aside, file)
      written = text
      kept = true
    },
    drop: () => {
      if (!kept) return
      kept = false
      try {
        renameSync(file, aside)
      } catch {
        // Somebody has removed it, so it is written again.
        written = undefined
        rmSync(file, { force: true })
      }
    },
  }
}

/** The record in a directory; undefined if there is none. Throws if it can't be read. */
export function readTrustRecord(directory: string): StoredTrust | undefined {
  let text: string
  try {
    text = readFileSync(join(directory, name), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return storedTrust().parse(JSON.parse(text))
}
