import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test as plain } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { bringNode } from '../../../sandbox/docker/own-node.ts'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { testInDocker } from '../../sandbox/helpers.ts'
import { openPath } from '../../support/call-path.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** An image that contains only Busybox. `.ci/ensure-docker` creates it. */
const image = 'portcullis-test:latest'
const missing = spawnSync('docker', ['image', 'inspect', image]).status !== 0
const test = testUnlessOnCi(
  missing ? `the image ${image} is not there; sh .ci/ensure-docker makes it` : undefined,
  testInDocker,
)

async function open() {
  const [workspace, outside] = [
    tempDir({ 'src/a.txt': 'one\n', '.env': 'SECRET=1\n' }),
    tempDir({ 'key.txt': 'secret\n' }),
  ]
  symlinkSync(join(outside, 'key.txt'), join(workspace, 'link.txt'))
  const policy = parsePolicy({ mode: 'workspace-write', workspace, deniedReads: ['**/.env*'] })
  const sandbox = await openSandbox(policy, { backend: 'docker', image })
  onTestFinished(() => sandbox.close())
  return { ...(await openPath({ tools: builtInTools, sandbox })), workspace, outside }
}

test('in an image without Node, file tools see exactly what a command there would', async () => {
  const { call, outside } = await open()
  expect(await call('read_file', { path: 'src/a.txt' })).toEqual({ ok: true, output: '     1\tone' })
  expect(await call('grep', { pattern: 'one' })).toMatchObject({
    ok: true,
    output: expect.stringContaining('src/a.txt'),
  })
  for (const path of ['.env', 'link.txt', join(outside, 'key.txt'), '/etc/shadow']) {
    expect(await call('read_file', { path })).toMatchObject({ ok: false })
  }
  expect(await call('write_file', { path: 'new.txt', content: 'two\n' })).toMatchObject({ ok: true })
  expect(await call('read_file', { path: 'new.txt' })).toEqual({ ok: true, output: '     1\ttwo' })
})

test('a JavaScript session does too', async () => {
  const { call } = await open()
  const code = "const fs = await import('node:fs'); fs.readdirSync('src').join() + fs.existsSync('/etc/shadow')"
  expect(await call('js_repl', { code })).toMatchObject({ ok: true, output: expect.stringContaining('a.txtfalse') })
})

plain('Node comes with its loader and its libraries, each under the name by which it is loaded', () => {
  const folder = tempDir()
  mkdirSync(join(folder, 'lib64'))
  const [node, real, libc, loader] = ['node', 'libc-2.36.so', 'lib64/libc.so.6', 'lib64/ld-linux-x86-64.so.2'].map(
    (name) => join(folder, name),
  )
  for (const file of [node, real, loader]) writeFileSync(file ?? '', '')
  symlinkSync(real ?? '', libc ?? '')
  const said = `\tlinux-vdso.so.1 (0x00007ffc)\n\tlibc.so.6 => ${libc} (0x00007f79)\n\t${loader} (0x00007f7a)\n`
  expect(bringNode(said, node)).toEqual({
    words: [
      '/dev/portcullis-node/lib/ld-linux-x86-64.so.2',
      '--library-path',
      '/dev/portcullis-node/lib',
      '/dev/portcullis-node/node',
    ],
    shown: [
      { source: node, target: '/dev/portcullis-node/node' },
      { source: real, target: '/dev/portcullis-node/lib/libc.so.6' },
      { source: loader, target: '/dev/portcullis-node/lib/ld-linux-x86-64.so.2' },
    ],
  })
})

plain('if these can’t be determined, the image’s own Node is used', () => {
  expect(bringNode('\tnot a dynamic executable\n')).toEqual({ words: ['node'], shown: [] })
})
