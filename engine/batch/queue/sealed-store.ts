import type { BatchKey } from './batch-key.ts'
import { NotAuthentic } from './batch-key.ts'
import type { Carrier } from './redis.ts'

const chunkBytes = 256 * 1024
/** The time after which Redis deletes data that is no longer written to, in milliseconds. */
const keptMs = 24 * 3_600_000

/** Thrown if a part of an object is missing, because it was never written or has expired, or if the object has too many parts. */
export class NotWhole extends Error {}

/**
 * The data that a coordinator and its workers share about one batch if they have no directory in common: sealed values, and objects that consist of
 * several parts, in Redis. Without the key, nobody can read this data, write new values, or move a value to another place.
 */
export class SealedStore {
  readonly #redis: Carrier['redis']
  readonly #key: BatchKey
  readonly #batch: string

  constructor({ redis }: Pick<Carrier, 'redis'>, key: BatchKey, batch: string) {
    this.#redis = redis
    this.#key = key
    this.#batch = batch
  }

  /** Writes a value under a name in a table. */
  async set(table: string, name: string, value: unknown): Promise<void> {
    await this.#redis.call('hset', this.#at(table), name, this.#key.sealValue([this.#batch, table, name], value))
    await this.#keep(table)
  }

  /** Writes a value unless the table already has a value under this name. @returns whether it was written */
  async setOnce(table: string, name: string, value: unknown): Promise<boolean> {
    const sealed = this.#key.sealValue([this.#batch, table, name], value)
    const isNew = Number(await this.#redis.call('hsetnx', this.#at(table), name, sealed)) === 1
    await this.#keep(table)
    return isNew
  }

  /**
   * Reads the value under a name in a table.
   *
   * @returns undefined if there is no such value
   * @throws NotAuthentic if the value was changed after it was written
   */
  async get(table: string, name: string): Promise<unknown> {
    const sealed = await this.#redis.call('hget', this.#at(table), name)
    return typeof sealed === 'string' ? this.#key.openValue([this.#batch, table, name], sealed) : undefined
  }

  /** Returns all values of a table by name. A value that was changed after it was written is returned as undefined. */
  async all(table: string): Promise<ReadonlyMap<string, unknown>> {
    const listed = (await this.#redis.call('hgetall', this.#at(table))) as Readonly<Record<string, string>>
    const entries = new Map<string, unknown>()
    for (const [name, sealed] of Object.entries(listed))
      entries.set(name, this.#openOr(undefined, [this.#batch, table, name], sealed))
    return entries
  }

  async remove(table: string, name: string): Promise<void> {
    await this.#redis.call('hdel', this.#at(table), name)
  }

  /** Writes an object in one or more parts. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const count = Math.max(1, Math.ceil(bytes.length / chunkBytes))
    for (let part = 0; part < count; part++) {
      const chunk = bytes.subarray(part * chunkBytes, (part + 1) * chunkBytes)
      const sealed = this.#key.seal([this.#batch, name, part, count], chunk)
      await this.#redis.call('hset', this.#at(name), part, sealed)
      await this.#keep(name)
    }
  }

  /**
   * Reads an object.
   *
   * @param most the maximum size of all parts together, in bytes
   * @throws NotWhole if a part is missing or there are too many parts; NotAuthentic if a part was changed after it was written
   */
  async read(name: string, most: number): Promise<Buffer> {
    const count = Number(await this.#redis.call('hlen', this.#at(name)))
    if (count === 0 || count * chunkBytes > most + chunkBytes) throw new NotWhole(`it has ${count} parts`)
    const parts: Buffer[] = []
    for (let part = 0; part < count; part++) {
      const sealed = await this.#redis.callBuffer('hget', this.#at(name), part)
      if (!Buffer.isBuffer(sealed)) throw new NotWhole(`part ${part + 1} is missing`)
      try {
        parts.push(this.#key.open([this.#batch, name, part, count], sealed))
      } catch (error) {
        throw error instanceof NotAuthentic ? new NotAuthentic(`part ${part + 1} of ${count}`, { cause: error }) : error
      }
    }
    return Buffer.concat(parts)
  }

  /** Whether there is an object with this name. */
  async has(name: string): Promise<boolean> {
    return Number(await this.#redis.call('exists', this.#at(name))) === 1
  }

  /** Removes tables and objects. */
  async clear(...names: readonly string[]): Promise<void> {
    await this.#redis.call('del', ...names.map((name) => this.#at(name)))
  }

  /** Milliseconds since 1970 by the clock of Redis, which all processes share. */
  async now(): Promise<number> {
    return timeOf(this.#redis)
  }

  #openOr<T>(absent: T, place: readonly string[], sealed: string): unknown {
    try {
      return this.#key.openValue(place, sealed)
    } catch (error) {
      if (error instanceof NotAuthentic) return absent
      throw error
    }
  }

  #at(name: string): string {
    return `portcullis:store:${this.#key.id}:${this.#batch.slice(0, 16)}:${name}`
  }

  async #keep(name: string): Promise<void> {
    await this.#redis.call('pexpire', this.#at(name), keptMs)
  }
}

const announced = 'portcullis:store:announced'
const announcedMs = 60_000

/** Announces that a batch is running, and with which key. The announcement must be repeated within a minute, or else the batch counts as ended. */
export async function announce({ redis }: Pick<Carrier, 'redis'>, key: BatchKey, batch: string): Promise<void> {
  await redis.call('hset', announced, `${key.id}:${batch}`, await timeOf(redis))
  await redis.call('pexpire', announced, keptMs)
}

/** Withdraws the announcement of a batch that is no longer running. */
export async function renounce({ redis }: Pick<Carrier, 'redis'>, key: BatchKey, batch: string): Promise<void> {
  await redis.call('hdel', announced, `${key.id}:${batch}`)
}

/** The running batches: the ids of the batches that use this key, and the number of batches that use other keys. */
export async function announcedBatches(
  { redis }: Pick<Carrier, 'redis'>,
  key: BatchKey,
): Promise<{ readonly own: readonly string[]; readonly others: number }> {
  const listed = (await redis.call('hgetall', announced)) as Readonly<Record<string, string>>
  const since = (await timeOf(redis)) - announcedMs
  const fresh = Object.entries(listed).flatMap(([name, at]) => (Number(at) > since ? [name.split(':')] : []))
  const own = fresh.flatMap(([id, batch]) => (id === key.id && batch !== undefined ? [batch] : []))
  return { own, others: fresh.length - own.length }
}

async function timeOf(redis: Carrier['redis']): Promise<number> {
  const [seconds, micros] = (await redis.call('time')) as readonly string[]
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}
