import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ContainerProcess, WarmContainer } from '../../sandbox/docker/client.ts'
import { tryContainer } from '../../sandbox/docker/try-container.ts'
import { installHelper } from '../../sandbox/helper/helper.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { nameFence } from '../../sandbox/second-fence.ts'
import { landlockHere } from '../support/landlock.ts'
import { testUnless } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
/** What the helper makes of the kernel's version: the first version isn't used. */
const here = landlockHere() < 2 ? 0 : landlockHere()
const isLinux = process.platform === 'linux' ? undefined : 'the helper is a program for Linux'

/** The start of a command line that runs a program as if on a kernel without Landlock: the call that asks for it fails with ENOSYS. */
function withoutLandlock(): readonly [string, ...string[]] {
  const directory = tempDir()
  const [load, jumpIfEqual, give] = [0x20, 0x15, 0x06]
  const instructions = [
    [load, 0, 0, 0],
    [jumpIfEqual, 0, 1, 444],
    [give, 0, 0, 0x0005_0000 + 38],
    [give, 0, 0, 0x7fff_0000],
  ] as const
  const filter = Buffer.alloc(instructions.length * 8)
  for (const [index, [code, yes, no, value]] of instructions.entries()) {
    filter.writeUInt16LE(code, index * 8)
    filter.writeUInt8(yes, index * 8 + 2)
    filter.writeUInt8(no, index * 8 + 3)
    filter.writeUInt32LE(value, index * 8 + 4)
  }
  writeFileSync(join(directory, 'filter'), filter)
  return [installHelper(architecture, directory, 0o700), 'filter', join(directory, 'filter')]
}

/** Runs a module with the sandbox's exports, and returns what it prints as JSON. */
function inAnotherProcess(before: readonly string[], cache: string, script: string): unknown {
  const sandbox = new URL('../../sandbox/index.ts', import.meta.url).href
  const source = `import { doctor, openSandbox, parsePolicy, renderDoctor, SandboxError } from '${sandbox}'
    const told = await (async () => { ${script} })()
    console.log(JSON.stringify(told))`
  const [file = '', ...words] = [...before, process.execPath, '--input-type=module', '-e', source]
  const env = { ...process.env, XDG_CACHE_HOME: cache }
  const { stdout, stderr } = spawnSync(file, words, { encoding: 'utf8', env })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

describeInBoth('the second fence of %s', ({ backend, test, readableRoots }) => {
  test('is named by the sandbox, and its absence is among what isn’t enforced', async () => {
    const policy = parsePolicy({ mode: 'workspace-write', workspace: await temporaryDirectory(), readableRoots })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    expect(sandbox.fence).toBe(nameFence(here))
    expect(sandbox.unenforced.some((sentence) => sentence.includes('Landlock'))).toBe(here === 0)
    expect(await run(sandbox, 'echo ran')).toMatchObject({ stdout: 'ran\n' })
  })
})

testInBubblewrap('the doctor names the fence of each backend that has one, and says where there is none', async () => {
  const script = 'const report = await doctor(); return { report, text: renderDoctor(report) }'
  const told = inAnotherProcess(withoutLandlock(), tempDir(), script) as {
    report: { backends: { backend: string; usable: boolean; fence?: string }[]; limits: { unenforced: string[] } }
    text: string
  }
  const fenced = told.report.backends.filter(({ fence }) => fence !== undefined)
  expect(fenced.map(({ fence }) => fence)).toEqual(fenced.map(() => 'none'))
  const known = ['bubblewrap', 'docker']
  expect(fenced.map(({ backend }) => backend)).toEqual(
    told.report.backends
      .filter(({ backend, usable }) => usable && known.includes(backend))
      .map(({ backend }) => backend),
  )
  expect(told.report.limits.unenforced).toContainEqual(expect.stringContaining('Landlock'))
  expect(told.text).toContain('  ok  bubblewrap (no second fence: only mounts confine writes)\n')
  const normal = inAnotherProcess([], tempDir(), script) as typeof told
  if (here > 0) expect(normal.text).toContain(`  ok  bubblewrap (second fence: landlock ${here})\n`)
})

testUnless(here === 0 ? 'this kernel has no Landlock' : undefined, testInBubblewrap)(
  'nothing starts if the fence that an earlier trial found is gone, and the next process knows',
  () => {
    const [cache, workspace] = [tempDir(), tempDir()]
    const open = (then: string) => `
      const policy = parsePolicy({ mode: 'workspace-write', workspace: '${workspace}' })
      const sandbox = await openSandbox(policy, { backend: 'bubblewrap' })
      try { ${then} } finally { await sandbox.close() }`
    const tell = open('return [sandbox.fence, sandbox.unenforced.filter((each) => each.includes("Landlock")).length]')
    const start = open(`
      const started = sandbox.spawn({ argv: ['/bin/true'], cwd: '${workspace}' })
      return await started.result.then(() => 'started', (error) => [error.code, error.data.detail])`)
    expect(inAnotherProcess([], cache, tell)).toEqual([`landlock ${here}`, 0])
    expect(inAnotherProcess(withoutLandlock(), cache, start)).toEqual([
      'setup-failed',
      expect.stringContaining('second fence'),
    ])
    expect(inAnotherProcess(withoutLandlock(), cache, tell)).toEqual(['none', 1])
    expect(inAnotherProcess(withoutLandlock(), cache, start)).toBe('started')
  },
)

testUnless(isLinux, test)('the trial of a container says which fence there is', async () => {
  const helper = installHelper(architecture, tempDir(), 0o700)
  const tried = async (before: readonly string[]) => {
    // What the trial knows of a container is how to run a command in it. This one runs on the host.
    const exec = ({ argv }: { readonly argv: readonly string[] }): ContainerProcess => {
      const [file = '', ...words] = [...before, ...argv]
      const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'] })
      const code = once(child, 'close').then(([ended]) => Number(ended))
      return { stdin: undefined, stdout: child.stdout, stderr: child.stderr, code, resize: () => undefined }
    }
    const where = { roots: [tempDir()], workspace: tempDir(), privateTemp: '/tmp' }
    const words = { user: '0:0', filtered: [], fence: [helper, 'fence'] }
    return (await tryContainer({ exec } as unknown as WarmContainer, { ...where, ...words })).fence
  }
  expect([await tried([]), await tried(withoutLandlock())]).toEqual([nameFence(here), 'none'])
})
