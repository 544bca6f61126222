import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
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
    const server = spawn('/usr/bin/redis-server', [...words, ...options], { stdio: 'ignore' })
    child = server
    for (;;) {
      if (server.exitCode !== null) throw new Error(`redis-server ended at once (exit code ${server.exitCode})`)
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

/** A port that nothing listens on. It isn't one of those that the system gives to connections, which might take it before the server does (ip(7)). */
export async function freePort(): Promise<number> {
  for (;;) {
    const [port, server] = [randomInt(10_000, 32_000), createServer()]
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
