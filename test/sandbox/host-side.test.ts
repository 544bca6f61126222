import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test as plain } from 'vitest'
import { holdOutput, hostPath, hostProgram, openNewFile, readHostFile } from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

async function executable(file: string, text = '#!/bin/sh\nexit 0\n'): Promise<string> {
  await writeFile(file, text)
  await chmod(file, 0o755)
  return file
}

plain('an output replaces the link that a command put in its place', async () => {
  const directory = await temporaryDirectory()
  const output = holdOutput(join(directory, 'entry.md'))
  await writeFile(join(directory, 'bashrc'), 'mine')
  await symlink('bashrc', join(directory, 'entry.md'))
  output.write('message')
  expect(await readFile(join(directory, 'bashrc'), 'utf8')).toBe('mine')
  expect(await readFile(join(directory, 'entry.md'), 'utf8')).toBe('message')
})

plain('an output is refused if a link is at its path, wherever the link leads', async () => {
  const directory = await temporaryDirectory()
  await writeFile(join(directory, 'real'), 'old')
  for (const target of ['real', 'missing', 'entry.md']) {
    await symlink(target, join(directory, 'entry.md'))
    expect(() => holdOutput(join(directory, 'entry.md'))).toThrow('it is a symbolic link')
    expect(() => openNewFile(join(directory, 'entry.md'))).toThrow('it is a symbolic link')
    await rm(join(directory, 'entry.md'))
  }
  expect(await readFile(join(directory, 'real'), 'utf8')).toBe('old')
  expect(existsSync(join(directory, 'missing'))).toBe(false)
})

plain(
  'an output is refused behind a link in a repository, but not behind one that leads to the repository',
  async () => {
    const directory = tempDir()
    for (const name of ['home', 'project/.git', 'project/out']) await mkdir(join(directory, name), { recursive: true })
    await symlink('project', join(directory, 'mine'))
    await symlink('../home', join(directory, 'project/planted'))
    for (const file of ['project/planted/a', 'mine/planted/a', 'mine/out/../planted/a'])
      expect(() => holdOutput(join(directory, file))).toThrow('planted is a symbolic link')
    holdOutput(join(directory, 'mine/out/a')).write('message')
    expect(await readFile(join(directory, 'project/out/a'), 'utf8')).toBe('message')
  },
)

plain('an output keeps the mode of the file that it replaces', async () => {
  const file = join(await temporaryDirectory(), 'entry.md')
  await writeFile(file, 'old', { mode: 0o640 })
  holdOutput(file).write('message')
  expect((await stat(file)).mode & 0o777).toBe(0o640)
})

plain('a pipe is refused as an output at once, and one put there later is replaced', async () => {
  const directory = await temporaryDirectory()
  const file = join(directory, 'entry.md')
  const output = holdOutput(file)
  spawnSync('mkfifo', [file])
  expect(() => holdOutput(file)).toThrow('it is not a file')
  expect(readHostFile(file)).toBeUndefined()
  output.write('message')
  expect(await readFile(file, 'utf8')).toBe('message')
})

plain('an output whose directory was swapped for a link is refused', async () => {
  const directory = await temporaryDirectory()
  for (const name of ['out', 'home']) await mkdir(join(directory, name))
  const output = holdOutput(join(directory, 'out/entry.md'))
  await rename(join(directory, 'out'), join(directory, 'aside'))
  await symlink('home', join(directory, 'out'))
  expect(() => output.write('message')).toThrow('the directory that contains it was moved away')
  expect(existsSync(join(directory, 'home/entry.md'))).toBe(false)
})

plain('a recording stays in the file that was created for it', async () => {
  const directory = await temporaryDirectory()
  const [file, target] = [join(directory, 'record.jsonl'), join(directory, 'bashrc')]
  await writeFile(target, 'mine')
  const recording = openNewFile(file)
  await rm(file)
  await symlink(target, file)
  recording.append('line\n')
  expect(await readFile(target, 'utf8')).toBe('mine')
})

plain('a program inside a root is never used as a host program, by whatever path it is reached', async () => {
  const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()]
  await mkdir(join(root, 'bin'))
  await executable(join(root, 'bin/approve'))
  await executable(join(outside, 'honest'))
  await symlink(join(root, 'bin/approve'), join(outside, 'approve'))
  await symlink(join(root, 'bin'), join(outside, 'linked'))
  const before = process.env['PATH']
  onTestFinished(() => void (process.env['PATH'] = before))
  process.env['PATH'] = [join(root, 'bin'), join(outside, 'linked'), '.', 'bin', outside].join(delimiter)
  expect(hostPath([root])).toBe(outside)
  expect(hostProgram('honest', [root])).toBe(join(outside, 'honest'))
  for (const name of ['approve', join(root, 'bin/approve'), join(outside, 'linked/approve')]) {
    expect(() => hostProgram(name, [root]), name).toThrow(
      /A program that commands can change is never run with your rights/,
    )
  }
})

test('no program of the workspace is started outside the sandbox, whatever PATH says', async () => {
  // Commands don't see `outside`, so everything in it was written by the host.
  const [workspace, outside] = [await temporaryDirectory(), await temporaryDirectory()]
  const bin = join(workspace, 'node_modules/.bin')
  await mkdir(bin, { recursive: true })
  for (const name of [
    'mkfifo',
    'ldd',
    'sh',
    'bwrap',
    'git',
    'ps',
    'env',
    'node',
    'prlimit',
    'timeout',
    'setsid',
    'kill',
    'id',
  ]) {
    await executable(join(bin, name), `#!/bin/sh\necho ${name} 2>&- >> ${outside}/pwned\n`)
  }
  const before = process.env['PATH']
  onTestFinished(() => void (process.env['PATH'] = before))
  process.env['PATH'] = `${bin}${delimiter}${before ?? ''}`
  const sandbox = await openFor({ mode: 'workspace-write', workspace, limits: { wallTimeMs: 20_000 } })
  await Promise.all(Array.from({ length: 8 }, () => run(sandbox, ':')))
  expect(existsSync(join(outside, 'pwned'))).toBe(false)
})
