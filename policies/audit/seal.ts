import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { parseJson } from './hash-chain.ts'

/**
 * The seal of a log's records: a key that only the runs that write the log can read, and the first record that it seals. Whoever can append to the
 * log without reading the key can't forge a record.
 */
export type Seal = { readonly key: string; readonly from: number }

const sealShape = z.object({ key: z.string().regex(/^[0-9a-f]{64}$/), from: z.int().min(1) })

/** The file next to a log with its key, readable by the owner alone. */
export function sealPath(path: string): string {
  return `${path}.key`
}

/** The seal of the log at `path`; undefined where there is none that can be read. */
export function readSeal(path: string): Seal | undefined {
  try {
    return sealShape.safeParse(parseJson(readFileSync(sealPath(path), 'utf8'))).data
  } catch {
    // Its absence is a finding where records are sealed, reported by the caller.
    return undefined
  }
}

/** Makes a key for a log from record `from` on. Throws as `writeFileSync` does, also where such a file exists already. */
export function makeSeal(path: string, from: number): Seal {
  const seal: Seal = { key: randomBytes(32).toString('hex'), from }
  writeFileSync(sealPath(path), `${JSON.stringify(seal)}\n`, { mode: 0o600, flag: 'wx' })
  return seal
}

/** How a sealed record ends: with the seal of everything before it. */
const ending = /^,"seal":"([0-9a-f]+)"\}$/
const endingLength = ',"seal":""}'.length + 64

/** A record as the line of a log, with its seal in it. */
export function sealRecord(record: string, { key }: Seal): string {
  const body = record.slice(0, -1)
  return `${body},"seal":"${sealOf(body, key)}"}`
}

/** Whether the line of a record carries a seal. */
export function isSealed(line: string): boolean {
  return sealIn(line) !== undefined
}

/** Whether the line of a record has the seal that this key gives it. */
export function holdsSeal(line: string, { key }: Seal): boolean {
  const seal = sealIn(line)
  const body = line.slice(0, -endingLength)
  return seal !== undefined && timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(body, key)))
}

function sealIn(line: string): string | undefined {
  return ending.exec(line.slice(-endingLength))?.[1]
}

function sealOf(body: string, key: string): string {
  return createHmac('sha256', Buffer.from(key, 'hex')).update(body, 'utf8').digest('hex')
}
