import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { freePort, startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'
import { tempDir } from '../../support/temp-dir.ts'

const whyNoTls = existsSync('/usr/bin/openssl') ? undefined : 'openssl is not installed'
const test = testUnlessOnCi(whyNoRedis())
const testTls = testUnlessOnCi(whyNoRedis() ?? whyNoTls)

const words = (redis: TestRedis): readonly string[] => [
  ...['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x')],
  ...['--queue', redis.url],
]

/** Starts a Redis server with TLS and a self-signed certificate. */
async function startTlsRedis(): Promise<{ readonly redis: TestRedis; readonly certificate: string }> {
  const folder = tempDir()
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  execFileSync(
    '/usr/bin/openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'],
      ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
      ...['-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  )
  const port = await freePort()
  const redis = await startRedis(
    ...['--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key],
    ...['--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'],
  )
  return { redis: { ...redis, url: `rediss://127.0.0.1:${port}` }, certificate }
}

testTls(
  'a batch goes through a Redis that is spoken to by TLS, whose authority NODE_EXTRA_CA_CERTS names',
  async () => {
    const { redis, certificate } = await startTlsRedis()
    const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) }, { NODE_EXTRA_CA_CERTS: certificate })
    const running = place.run(words(redis))
    await startWorker(place, redis)
    expect((await running).code).toBe(0)
    expect(place.json('summary.json')).toMatchObject({ outcomes: { done: 2 }, attempts: 2 })
  },
)

testTls('no connection is made to a Redis with an untrusted certificate, and the message says what helps', async () => {
  const { redis } = await startTlsRedis()
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const { code, stderr } = await place.run(words(redis))
  expect([code, stderr]).toEqual([2, expect.stringContaining('self-signed certificate') as string])
  expect(stderr).toContain('NODE_EXTRA_CA_CERTS')
  expect(existsSync(place.out)).toBe(false)
})

test.each([
  ['no', true],
  ['yes', false],
] as const)('where Redis has appendonly %s, the coordinator and a worker warn: %s', async (appendonly, isWarned) => {
  const redis = await startRedis('--appendonly', appendonly)
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const running = place.run(words(redis))
  const worker = await startWorker(place, redis)
  const { code, stderr } = await running
  process.kill(worker.pid(), 'SIGTERM')
  expect(code).toBe(0)
  for (const said of [stderr, (await worker.ended).stderr]) {
    expect(said.includes("This Redis doesn't write data to disk at once (appendonly no)")).toBe(isWarned)
  }
})
