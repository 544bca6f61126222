import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { freePort, startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { tempDir } from '../../support/temp-dir.ts'

const whyNoTls = existsSync('/usr/bin/openssl') ? undefined : 'openssl is not installed'
const test = testUnlessOnCi(whyNoRedis())
const testTls = testUnlessOnCi(whyNoRedis() ?? whyNoTls)

const words = (redis: TestRedis): readonly string[] => [
  ...['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x')],
  ...['--queue', redis.url],
]

/** Starts a Redis server with TLS, whose certificate was issued by an authority that nobody knows. Returns the authority's certificate. */
async function startTlsRedis(): Promise<{ readonly redis: TestRedis; readonly authority: string }> {
  const folder = tempDir({ names: 'subjectAltName=IP:127.0.0.1' })
  const file = (name: string): string => join(folder, name)
  const openssl = (...options: readonly string[]): void =>
    void execFileSync('/usr/bin/openssl', options, { cwd: folder, stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc']
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Example Root', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', ...newKey, '-subj', '/CN=127.0.0.1', '-keyout', 'key.pem', '-out', 'request.pem')
  const issued = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'request.pem', ...issued, '-out', 'certificate.pem')
  const port = await freePort()
  const redis = await startRedis(
    ...['--tls-port', String(port), '--tls-cert-file', file('certificate.pem'), '--tls-key-file', file('key.pem')],
    ...['--tls-ca-cert-file', file('ca.pem'), '--tls-auth-clients', 'no'],
  )
  return { redis: { ...redis, url: `rediss://127.0.0.1:${port}` }, authority: file('ca.pem') }
}

testTls.each(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'])(
  'a batch and a worker speak to a Redis by TLS, whose authority %s names',
  async (variable) => {
    const { redis, authority } = await startTlsRedis()
    const value = variable === 'SSL_CERT_DIR' ? dirname(authority) : authority
    const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) }, { [variable]: value })
    const running = place.run(words(redis))
    await startWorker(place, redis)
    const { code, stderr } = await running
    expect(code, stderr).toBe(0)
    expect(place.json('summary.json')).toMatchObject({ outcomes: { done: 2 }, attempts: 2 })
  },
)

testTls('no connection is made to a Redis with an untrusted certificate, and the message says what helps', async () => {
  const { redis } = await startTlsRedis()
  const proxy = await startTcpProxy(Number(new URL(redis.url).port))
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const { code, stderr } = await place.run(words({ ...redis, url: `rediss://127.0.0.1:${proxy.port}` }))
  // The same certificate would be refused again and again, so it is only read once more to describe it.
  expect(proxy.connections()).toBe(2)
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('the certificate of 127.0.0.1, issued by "Example Root", isn\'t accepted') as string,
  ])
  expect(stderr).toContain('SSL_CERT_FILE')
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
