import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { tempDir } from './temp-dir.ts'

/** Why no Redis can be started here; undefined if one can. */
export function whyNoRedis(): string | undefined {
  if (!existsSync('/usr/bin/redis-server')) return 'redis-server is not installed (.ci/ensure-redis installs it)'
  const packages = new URL('../../node_modules/', import.meta.url).pathname
  const missing = ['bullmq', 'ioredis'].filter((name) => !existsSync(`${packages}${name}`))
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed: npm ci`
}

/** A separate Redis for a test, which can be killed and started again. */
export type TestRedis = {
  readonly url: string
  readonly cli: (...words: readonly string[]) => string
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

/**
 * Starts a Redis server, and stops it at the end of the test.
 *
 * @param options additional command-line arguments for Redis
 */
export async function startRedis(...options: readonly string[]): Promise<TestRedis> {
  const folder = tempDir()
  const port = await freePort()
  let child: ChildProcess | undefined
  const cli = (...words: readonly string[]): string =>
    execFileSync('/usr/bin/redis-cli', ['-p', String(port), ...words], { stdio: ['ignore', 'pipe', 'pipe'] }).toString()
  const start = async (): Promise<void> => {
    const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', '']
    child = spawn('/usr/bin/redis-server', [...words, ...options], { stdio: 'ignore' })
    for (;;) {
      try {
        if (cli('ping').includes('PONG')) return
      } catch {
        // Redis does not listen yet.
      }
      await sleep(50)
    }
  }
  const kill = async (): Promise<void> => {
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child?.kill('SIGKILL')
    await ended
  }
  await start()
  onTestFinished(kill)
  return { url: `redis://127.0.0.1:${port}`, cli, kill, start }
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
