import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { readFile } from '../read-file.ts'
import { parseJson } from './hash-chain.ts'

/**
 * What seals a log's records: a key that can be read only by the runs that write the log, and the number of the first sealed record. A process that
 * can append to the log but can't read the key can't forge a record.
 */
export type Seal = { readonly key: string; readonly from: number }

const makeShape = () => z.object({ key: z.string().regex(/^[0-9a-f]{64}$/), from: z.int().min(1) })

/** The path of the file, next to the log, that contains the log's key. Only the owner can read the file. */
export function sealPath(path: string): string {
  return `${path}.key`
}

/** The seal of the log at `path`; undefined if there is none that can be read. */
export function readSeal(path: string): Seal | undefined {
  try {
    const value = parseJson(readFile(sealPath(path), 4096).toString())
    return makeShape().safeParse(value).data
  } catch {
    // If the log has sealed records, the caller reports the missing key as a finding.
    return undefined
  }
}

/**
 * Creates the key of a log, and the key's file. The key seals the log's records from number `from` on. The file appears with its whole content, so
 * that a killed run leaves either no key or a complete one. Throws the system's error if the file can't be created, or if the log has records and a
 * key file already exists.
 */
export function makeSeal(path: string, from: number): Seal {
  const seal: Seal = { key: randomBytes(32).toString('hex'), from }
  const made = `${sealPath(path)}.${randomBytes(6).toString('hex')}`
  writeFileSync(made, `${JSON.stringify(seal)}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // A key that can't be read is replaced only if nothing is sealed with it.
    if (from === 1) renameSync(made, sealPath(path))
    else linkSync(made, sealPath(path))
  } finally {
    rmSync(made, { force: true })
  }
  return seal
}

/** Matches the end of a sealed record, which contains the seal of everything before it. */
const ending = /^,"seal":"([0-9a-f]+)"\}$/
const endingLength = ',"seal":""}'.length + 64

/** Formats a record as a line of the log, including its seal. */
export function sealRecord(record: string, { key }: Seal): string {
  const body = record.slice(0, -1)
  return `${body},"seal":"${sealOf(body, key)}"}`
}

/** Whether a record's line contains a seal. */
export function isSealed(line: string): boolean {
  return sealIn(line) !== undefined
}

/** Whether a record's line contains the seal that this key produces for it. */
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
