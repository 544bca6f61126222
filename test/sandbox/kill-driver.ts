/**
 * A program that opens a sandbox, runs one script in it, and closes the sandbox. Tests kill this program, or look at the resources it uses.
 *
 *     node kill-driver.ts '{"policy": {…}, "options": {…}, "script": "…", "slow": false}'
 *
 * It prints `started` as soon as the command runs, and at the end one line of JSON: how the command ended, how many bytes of its output arrived, and
 * the most memory that this program has used.
 */
import process from 'node:process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import type { Drive, Driven } from './kill-tools.ts'

const { policy, options, script, slow } = JSON.parse(process.argv[2] ?? '') as Drive
const sandbox = await openSandbox(parsePolicy(policy), options)
const child = sandbox.spawn({ argv: ['/bin/bash', '-c', script], cwd: policy.workspace })
process.stdout.write('started\n')
const [stdout, stderr, result] = await Promise.all([drain(child.stdout), drain(child.stderr), child.result])
await sandbox.close()
const driven: Driven = { result, bytes: stdout + stderr, maxRssKib: process.resourceUsage().maxRSS }
process.stdout.write(`${JSON.stringify(driven)}\n`)

/** Reads a stream to its end and discards the data. With `slow`, it reads slowly at first, as a terminal would. */
async function drain(stream: Readable): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length
    if (slow && bytes < 20_000_000) await sleep(5)
  }
  return bytes
}
