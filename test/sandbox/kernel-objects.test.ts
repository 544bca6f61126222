import { readFileSync } from 'node:fs'
import process from 'node:process'
import { expect, test as plain } from 'vitest'
import { watchLimits } from '../../sandbox/bubblewrap/watch-limits.ts'
import { unlimitedWatches } from '../../sandbox/limits/plan-limits.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

/** The source of a program that opens inotify instances until no more can be opened. */
const instances = `
const { watch, mkdirSync } = require('node:fs')
const { Worker, isMainThread } = require('node:worker_threads')
// The event loop of each thread has its own inotify instance.
if (isMainThread) {
  const next = (count) => {
    const worker = new Worker(__filename)
    worker.on('message', (code) => (code === 'EMFILE' || count > 300 ? (console.log(count), process.exit()) : next(count + 1)))
  }
  next(0)
} else {
  const { parentPort } = require('node:worker_threads')
  try {
    watch('.')
    parentPort.postMessage('watching')
  } catch (error) {
    parentPort.postMessage(error.code)
  }
}`

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  const open = async () => {
    const policy = { mode: 'workspace-write' as const, workspace: await temporaryDirectory(), readableRoots }
    return closeLater(await openSandbox(parsePolicy(policy), { backend, image }))
  }

  test('the number of files in shared memory is limited', async () => {
    const { stdout } = await run(await open(), 'df --output=itotal /dev/shm | tail -1; touch /dev/shm/x && echo made')
    expect(stdout.trim()).toBe('65536\nmade')
  })

  test('a command can use only a part of the user’s inotify instances, or a note says that it can use all', async () => {
    const sandbox = await open()
    if (sandbox.unenforced.includes(unlimitedWatches)) return
    expect(backend).toBe('bubblewrap')
    const script = `cat > i.cjs <<'END'\n${instances}\nEND\n"${process.execPath}" i.cjs`
    const most = Number(readFileSync('/proc/sys/fs/inotify/max_user_instances', 'utf8'))
    expect(Number((await run(sandbox, script)).stdout)).toBe(Math.ceil(most / 4))
  })
})

plain('a kernel without inotify limits offers none to set', () => {
  const absent = (): never => {
    throw new Error('ENOENT')
  }
  expect(watchLimits(absent)).toBeUndefined()
  expect(watchLimits(() => '128\n')).toEqual({ instances: 32, watches: 64 })
})
