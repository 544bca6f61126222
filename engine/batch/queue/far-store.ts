import type { Carrier } from './carrier.ts'

/** What a coordinator and workers that don't share the batch's folder exchange through Redis. */

/** The time after which Redis deletes data that is no longer written to, in milliseconds. */
const keptMs = 24 * 3_600_000

/** Tables of a batch in Redis, with values by name. */
export class FarStore {
  readonly #redis: Carrier['redis']
  readonly #batch: string

  constructor({ redis }: Pick<Carrier, 'redis'>, batch: string) {
    this.#redis = redis
    this.#batch = batch
  }

  async set(table: string, name: string, value: string | Buffer): Promise<void> {
    await this.#redis.call('hset', this.#at(table), name, value)
    await this.#redis.call('pexpire', this.#at(table), keptMs)
  }

  /** Writes a value unless the table already has a value under this name. @returns whether it was written */
  async setOnce(table: string, name: string, value: string): Promise<boolean> {
    const isNew = Number(await this.#redis.call('hsetnx', this.#at(table), name, value)) === 1
    await this.#redis.call('pexpire', this.#at(table), keptMs)
    return isNew
  }

  async get(table: string, name: string): Promise<string | undefined> {
    return (await this.getBytes(table, name))?.toString()
  }

  async getBytes(table: string, name: string): Promise<Buffer | undefined> {
    return ((await this.#redis.callBuffer('hget', this.#at(table), name)) as Buffer | null) ?? undefined
  }

  async names(table: string): Promise<readonly string[]> {
    return (await this.#redis.call('hkeys', this.#at(table))) as readonly string[]
  }

  async all(table: string): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries((await this.#redis.call('hgetall', this.#at(table))) as Record<string, string>))
  }

  async remove(table: string, name: string): Promise<void> {
    await this.#redis.call('hdel', this.#at(table), name)
  }

  async clear(...tables: readonly string[]): Promise<void> {
    await this.#redis.call('del', ...tables.map((table) => this.#at(table)))
  }

  #at(table: string): string {
    return `portcullis:far:${this.#batch.slice(0, 16)}:${table}`
  }
}

/** Names in Redis, each with a text, that count as present for some time after they were last announced. Redis's clock measures that time. */
class Presence {
  readonly #redis: Carrier['redis']
  readonly #key: string
  readonly #ms: number

  constructor(redis: Carrier['redis'], key: string, ms: number) {
    this.#redis = redis
    this.#key = key
    this.#ms = ms
  }

  async announce(name: string, text: string): Promise<void> {
    await this.#redis.call('sadd', this.#key, name)
    await this.#redis.call('pexpire', this.#key, keptMs)
    await this.#redis.call('set', `${this.#key}:${name}`, text, 'px', this.#ms)
  }

  async withdraw(name: string): Promise<void> {
    await this.#redis.call('srem', this.#key, name)
    await this.#redis.call('del', `${this.#key}:${name}`)
  }

  /** The names that are present, with their texts. */
  async all(): Promise<ReadonlyMap<string, string>> {
    const names = (await this.#redis.call('smembers', this.#key)) as readonly string[]
    if (names.length === 0) return new Map()
    const keys = names.map((name) => `${this.#key}:${name}`)
    const texts = (await this.#redis.call('mget', ...keys)) as readonly (string | null)[]
    return new Map(names.flatMap((name, at) => (typeof texts[at] === 'string' ? [[name, texts[at]] as const] : [])))
  }
}

/** The running batches whose tasks go through this Redis, by hash. */
export function batchesIn({ redis }: Pick<Carrier, 'redis'>): Presence {
  return new Presence(redis, 'portcullis:far:batches', 60_000)
}

/** The live workers of a batch that don't share its folder, with their reports. @param ms how long a worker is live after a report */
export function workersIn({ redis }: Pick<Carrier, 'redis'>, batch: string, ms: number): Presence {
  return new Presence(redis, `portcullis:far:${batch.slice(0, 16)}:workers`, ms)
}
