import { aboutCertificate, refusedCertificate, trustMoreCertificates } from '../../core/certificates.ts'
import { UserError } from '../../core/user-error.ts'
import type { Packages, Redis } from './packages.ts'

/** A connection to the Redis server that stores a batch's jobs. */
export type Carrier = {
  readonly packages: Packages
  readonly redis: Redis
  /** A warning if jobs could be lost although the connection works; otherwise undefined. */
  readonly warning: string | undefined
  readonly close: () => void
}

/**
 * Connects to Redis, and checks whether it stores data reliably.
 *
 * @param url `redis://` or `rediss://`, with a user name and a password if the server requires them
 * @param environment the variables that name certificates to trust. Default: none
 * @throws UserError `usage` if the URL has another form, the packages are missing, no server answers, or Redis may drop jobs
 */
export async function connectCarrier(url: string, environment: Readonly<NodeJS.ProcessEnv> = {}): Promise<Carrier> {
  if (!/^rediss?:\/\//.test(url))
    throw new UserError('usage', '--queue: expected redis://HOST:PORT, or rediss:// for TLS.')
  const packages = await loadPackages()
  if (url.startsWith('rediss:')) await trustMoreCertificates(new URL(url), environment)
  const redis = new packages.Redis(url, { maxRetriesPerRequest: null, lazyConnect: false })
  let refusal = ''
  const untrusted = Promise.withResolvers<never>()
  redis.on('error', (error) => {
    refusal = (error as Error).message
    const refused = refusedCertificate(error)
    if (refused !== undefined) untrusted.reject(refused)
  })
  untrusted.promise.catch(() => undefined)
  try {
    const facts = await Promise.race([redis.info('all'), untrusted.promise, failAfter(10_000, () => refusal)])
    const policy = /^maxmemory_policy:(\S+)/m.exec(facts)?.[1]
    if (policy !== undefined && policy !== 'noeviction') {
      const message = `This Redis drops data, including jobs, when it is full (maxmemory-policy ${policy}).`
      throw new UserError('usage', `${message} Set it to noeviction: redis-cli config set maxmemory-policy noeviction`)
    }
    const isKept = /^aof_enabled:1/m.test(facts)
    const warning = isKept
      ? undefined
      : "This Redis doesn't write data to disk at once (appendonly no), so jobs are lost if it stops. The batch notices that, and queues the jobs again."
    return { packages, redis, warning, close: () => redis.disconnect() }
  } catch (error) {
    redis.disconnect()
    const refused = refusedCertificate(error)
    if (refused === undefined) throw error
    throw new UserError('usage', `--queue: ${await aboutCertificate(withPort(url), refused)}`, { cause: error })
  }
}

/**
 * Refuses a connection over which tasks and results would be sent in clear through a network. A connection within this machine is fine, for example
 * one through an SSH tunnel.
 *
 * @throws UserError `usage`
 */
export function refuseOpenWire(url: string): void {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  if (url.startsWith('rediss:') || ['localhost', '127.0.0.1', '[::1]'].includes(host)) return
  throw new UserError(
    'usage',
    "--queue: over redis://, tasks and results could be read and changed on their way. Either use TLS (rediss://HOST:PORT), or let the workers share the batch's folder: agent batch worker --store DIR, and agent batch run without --through-queue.",
  )
}

async function loadPackages(): Promise<Packages> {
  // The names are in variables, so that no bundler includes these packages: the user installs them.
  const [bullmq, ioredis] = ['bullmq', 'ioredis']
  try {
    const { Queue, Worker, UnrecoverableError, WaitingError } = (await import(bullmq)) as Pick<
      Packages,
      'Queue' | 'Worker' | 'UnrecoverableError' | 'WaitingError'
    >
    const { Redis } = (await import(ioredis)) as Pick<Packages, 'Redis'>
    return { Queue, Worker, UnrecoverableError, WaitingError, Redis }
  } catch (error) {
    const message =
      '--queue needs two packages that are not part of this package. Install them next to it: npm i bullmq@6 ioredis@5'
    throw new UserError('usage', message, { cause: error })
  }
}

function withPort(url: string): URL {
  const parsed = new URL(url)
  if (parsed.port === '') parsed.port = '6379'
  return parsed
}

async function failAfter(ms: number, why: () => string): Promise<never> {
  const { setTimeout: sleep } = await import('node:timers/promises')
  await sleep(ms, undefined, { ref: false })
  throw new UserError(
    'usage',
    `--queue: no Redis server answered within ${ms / 1000} s${why() === '' ? '' : `: ${why()}`}`,
  )
}
