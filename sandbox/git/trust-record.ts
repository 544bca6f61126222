import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { Backend } from '../backend.ts'

/** A record as it is kept, with whoever confined the commands: what is left of them is ended in another way in each. */
type Kept = z.infer<typeof Kept>

/** What a guard knew to be the host's own before commands ran: all that a review needs. */
export type Trust = z.infer<typeof Trust>

const paths = z.array(z.string()).readonly()

const Trust = z.object({
  roots: paths,
  places: z.object({ gitDirectories: paths, gitLinks: paths, repositories: paths, protectedPaths: paths }),
  /** Identities of entries. */
  trusted: paths,
  /** Where symlinks led, by their paths. */
  symlinks: z.array(z.tuple([z.string(), z.string()])).readonly(),
})

const Kept = z.object({ backend: z.string(), trust: Trust })

/** Keeps what is trusted on disk while commands run, so that the review after them takes place even when we are killed. */
export type TrustRecord = {
  keep(trust: Trust): void
  /** The review has taken place. */
  drop(): void
}

const name = 'unreviewed.json'

/** The record in a run's own directory. */
export function createTrustRecord(directory: string, backend: Backend): TrustRecord {
  const file = join(directory, name)
  let kept = false
  return {
    keep: (trust) => {
      // In one step: half a record would be none.
      writeFileSync(`${file}.new`, JSON.stringify({ backend, trust } satisfies Kept), { mode: 0o600 })
      renameSync(`${file}.new`, file)
      kept = true
    },
    drop: () => {
      if (kept) rmSync(file, { force: true })
      kept = false
    },
  }
}

/** What the record in a directory says; undefined where there is none. Throws for one that can't be read. */
export function readTrustRecord(directory: string): Kept | undefined {
  let text: string
  try {
    text = readFileSync(join(directory, name), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return Kept.parse(JSON.parse(text))
}
