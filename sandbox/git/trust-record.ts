import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { Backend } from '../backend.ts'
import { memoize } from '../memoize.ts'

/** A stored record. It names the backend of its run, because each backend kills leftover processes in its own way. */
type StoredTrust = z.infer<ReturnType<typeof storedTrust>>

/** The files that a guard recorded as the host's own before commands ran: everything that a review needs. */
export type Trust = StoredTrust['trust']

/** Creates the schema of a stored record. It is created only if there is a record to read, which is rare. */
const storedTrust = () => {
  const paths = z.array(z.string()).readonly()
  const trust = z.object({
    roots: paths,
    places: z.object({ gitDirectories: paths, gitLinks: paths, repositories: paths, protectedPaths: paths }),
    /** The identities of the trusted entries. */
    trusted: paths,
    /** The targets of symlinks, by the symlinks' paths. */
    symlinks: z.array(z.tuple([z.string(), z.string()])).readonly(),
  })
  return z.object({ backend: z.string(), trust })
}

/** A list as JSON. The text is cached, because the list of protected paths is long and the same for all commands of a run. */
const textOf = memoize((list: readonly string[]) => JSON.stringify(list))

/** Returns the same text as `JSON.stringify`, but uses the cached text for the protected paths. */
function textOfKept(backend: Backend, { roots, places, trusted, symlinks }: Trust): string {
  const { protectedPaths, ...others } = places
  const before = JSON.stringify({ backend }).slice(0, -1)
  const where = `${JSON.stringify(others).slice(0, -1)},"protectedPaths":${textOf(protectedPaths)}}`
  const rest = JSON.stringify({ trusted, symlinks }).slice(1)
  return `${before},"trust":{"roots":${JSON.stringify(roots)},"places":${where},${rest}}`
}

/** Stores the trusted entries on disk while commands run, so that a later process can review what commands left even if this process is killed. */
export type TrustRecord = {
  keep(trust: Trust): void
  /** Removes the record after the review. Its file is only renamed, so that `keep` can use it again. */
  drop(): void
}

const name = 'unreviewed.json'

/** Creates the record in a run's own directory. */
export function createTrustRecord(directory: string, backend: Backend): TrustRecord {
  const file = join(directory, name)
  const aside = `${file}.new`
  let written: string | undefined
  let kept = false
  return {
    keep: (trust) => {
      const text = textOfKept(backend, trust)
      if (kept && text === written) return
      // `drop` leaves the previous command's record in `aside`. If it has the same text, which is nearly always the case, it isn't written again.
      if (kept || text !== written) writeFileSync(aside, text, { mode: 0o600 })
      written = undefined
      // The file is renamed into place, so that there is never an incomplete record.
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
        // Somebody has removed the file, so the next call of `keep` writes it again.
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
