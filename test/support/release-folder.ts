import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { version } from '../../engine/core/version.ts'
import { tempDir } from './temp-dir.ts'

/** Serves the folder of a release, whose archive starts the built program. Returns the folder's address, and the archive's with its hash. */
export async function releaseFolder(): Promise<{
  readonly url: string
  readonly archive: string
  readonly sha256: string
}> {
  const program = new URL('../../dist/bin/agent.js', import.meta.url).pathname
  const folder = tempDir({ 'portcullis/bin/agent': `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n` })
  execFileSync('chmod', ['+x', join(folder, 'portcullis/bin/agent')])
  const name = `portcullis-${version}-linux-x64.tar.gz`
  execFileSync('tar', ['-czf', join(folder, name), '-C', folder, 'portcullis'])
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')
  const lists = `${'0'.repeat(64)}  other.tar.gz\n${sha256}  ${name}\n`
  const server = createServer(({ url = '' }, response) => {
    if (url === '/v1/SHA256SUMS') response.end(lists)
    else if (url === `/v1/${name}`) response.end(readFileSync(join(folder, name)))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, archive: `${url}/${name}`, sha256 }
}
