import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { crc32, deflateSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { agent } from '../support/agent.ts'
import { call, freeform, say, type Reply } from '../support/mock-openai.ts'
import { needsBubblewrap, needsPrograms } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { exec } from '../support/workspace.ts'

const root = new URL('../../', import.meta.url).pathname

/** Copies this package to a folder as npm would install it, but without source maps, type declarations, and legal texts. */
function copyPackage(to: string): void {
  const filter = (path: string): boolean => !/\.map$|\.LEGAL\.txt$|\/dist\/types$/.test(path)
  cpSync(join(root, 'dist'), join(to, 'dist'), { recursive: true, filter })
  const { name, version, type, bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object &
    Record<string, unknown>
  writeFileSync(join(to, 'package.json'), JSON.stringify({ name, version, type, bin, exports }))
}

/** A workspace in which the package is installed as npm installs it. */
function workspaceWithIt(): string {
  const workspace = tempDir({ 'package.json': '{}', '.npmrc': 'fund=false\n' })
  mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true })
  copyPackage(join(workspace, 'node_modules/portcullis'))
  symlinkSync('../portcullis/dist/bin/agent.js', join(workspace, 'node_modules/.bin/agent'))
  return workspace
}

/** All files of the installed package, with their bytes. */
function installed(workspace: string): ReadonlyMap<string, string> {
  const folder = join(workspace, 'node_modules/portcullis')
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return new Map(files.toSorted().map((path) => [path, readFileSync(path, 'latin1')]))
}

/** A picture that must be scaled down, for which a library has to be loaded. */
function largePicture(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(4096, 0)
  header.writeUInt32BE(64, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  const rows = deflateSync(Buffer.alloc(4097 * 64))
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

describe.skipIf(needsBubblewrap())('where a local installation lies in the workspace', () => {
  let workspace: string
  let program: string
  let stolen: string
  beforeEach(() => {
    workspace = workspaceWithIt()
    program = join(workspace, 'node_modules/.bin/agent')
    stolen = join(tempDir(), 'stolen')
  })
  const sandbox = (script: string, env: Readonly<Record<string, string>> = {}) =>
    agent(['sandbox', '--', 'sh', '-c', script], { cwd: workspace, home: tempDir(), program, env })
  const run = (replies: readonly Reply[], args: readonly string[] = []) =>
    exec(replies, ['--skip-git-repo-check', '--json', ...args, 'go'], { cwd: workspace, program })

  test.each([
    ['rewritten', 'echo "$EVIL" > dist/bin/agent.js'],
    ['added to', 'echo "$EVIL" >> dist/engine/sandbox-main.js'],
    ['rewritten as compiled', 'echo evil > dist/engine/sandbox-main.js.cache'],
    ['replaced', 'rm dist/bin/agent.js; echo "$EVIL" > dist/bin/agent.js; chmod 555 dist/bin'],
    ['replaced by a directory', 'rm dist/bin/agent.js; mkdir -p dist/bin/agent.js/x'],
    ['replaced by a link', 'rm dist/bin/agent.js; echo "$EVIL" > x.js; ln -s ../../x.js dist/bin/agent.js'],
    ['replaced by a pipe', 'rm dist/bin/agent.js; mkfifo dist/bin/agent.js'],
    ['reached by another link', 'cd ..; rm .bin/agent; echo "$EVIL" > x.js; ln -s ../x.js .bin/agent'],
    [
      'moved away with its folder',
      'cd ../..; mv node_modules m; mkdir -p e/.bin; echo "$EVIL" > e/.bin/agent; ln -s e node_modules',
    ],
    ['removed', 'cd ../..; rm -rf node_modules'],
  ])('a command’s change does not land, and is told: %s', async (_, change) => {
    const before = installed(workspace)
    const evil = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(stolen)}, '')`
    const { code, stderr } = await sandbox(`cd node_modules/portcullis; EVIL='${evil.replaceAll("'", '"')}'; ${change}`)
    // Nothing can take the place of the folder that stays.
    expect(code).toBe(/ln -s e /.test(change) ? 1 : 0)
    expect(stderr).toContain('never land')
    expect([...installed(workspace).keys()]).toEqual(expect.arrayContaining([...before.keys()]))
    for (const [path, bytes] of before) expect(readFileSync(path, 'latin1') === bytes, path).toBe(true)
    expect(readlinkSync(program)).toBe('../portcullis/dist/bin/agent.js')
    expect(await sandbox('echo again')).toMatchObject({ code: 0, stdout: 'again\n', stderr: '' })
    expect(existsSync(stolen)).toBe(false)
  })

  test('so are the files that decide how npx starts it', async () => {
    const plant =
      'echo node-options=--require=./evil.cjs >> .npmrc; for p in node sh; do echo "touch x" > node_modules/.bin/$p; done'
    const { stderr } = await sandbox(plant)
    expect(stderr).toMatch(/never land: .*\/\.npmrc/)
    expect(readFileSync(join(workspace, '.npmrc'), 'utf8')).toBe('fund=false\n')
    expect(readdirSync(join(workspace, 'node_modules/.bin'))).toEqual(['agent'])
  })

  test('a command that changes none of these files is not reported', async () => {
    expect(await sandbox('echo x > other; touch node_modules/x')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  test('a run later loads only the files that the program was built with', async () => {
    writeFileSync(join(workspace, 'large.png'), largePicture())
    const evil = `require("fs").writeFileSync("${stolen}","");module.exports={}`
    const script = `for n in @cf-wasm/photon unpdf turndown; do mkdir -p node_modules/$n; echo '{"main":"i.js"}' > node_modules/$n/package.json; echo '${evil}' > node_modules/$n/i.js; done
      cd node_modules/portcullis/dist; while :; do for f in chunks/*.js engine/*.js; do echo '${evil}' > $f; done; touch ../../../changed; done`
    const { events, code } = await run([
      [call('exec_command', { cmd: script, yield_time_ms: 300 })],
      [call('exec_command', { cmd: 'while ! [ -e changed ]; do sleep 0.1; done' })],
      [call('read_file', { path: 'large.png' })],
      [say('done')],
      // The command still runs, so the model is asked about it once.
      [say('done')],
    ])
    expect(code).toBe(0)
    expect(JSON.stringify(events)).toMatch(/large\.png/)
    expect(existsSync(stolen)).toBe(false)
    expect(await sandbox('echo again')).toMatchObject({ stdout: 'again\n' })
  })

  test('a picture is still scaled down', async () => {
    writeFileSync(join(workspace, 'large.png'), largePicture())
    const { requests } = await run([[call('read_file', { path: 'large.png' })], [say('done')]])
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('shown as 2048 × 32')
  })

  test('tools other than commands can’t write there either', async () => {
    const before = readFileSync(join(workspace, 'node_modules/portcullis/dist/bin/agent.js'), 'utf8')
    const patch = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+evil\n*** End Patch\n`
    await run([
      [freeform('apply_patch', patch('node_modules/portcullis/dist/bin/agent.js'))],
      [freeform('apply_patch', patch('node_modules/.bin/node'))],
      [freeform('apply_patch', patch('.npmrc'))],
      [say('done')],
    ])
    expect(readFileSync(join(workspace, 'node_modules/portcullis/dist/bin/agent.js'), 'utf8')).toBe(before)
    expect(readFileSync(join(workspace, '.npmrc'), 'utf8')).toBe('fund=false\n')
    expect(existsSync(join(workspace, 'node_modules/.bin/node'))).toBe(false)
  })

  test.skipIf(needsPrograms('npm'))('it can be installed anew by a command', async () => {
    const source = tempDir()
    copyPackage(source)
    const npm = (...args: readonly string[]): string =>
      execFileSync('npm', args, {
        cwd: workspace,
        encoding: 'utf8',
        env: { ...process.env, npm_config_cache: tempDir() },
      })
    npm('pack', '--silent', source)
    npm(
      'install',
      '--silent',
      '--offline',
      '--no-audit',
      `./${readdirSync(workspace).find((name) => name.endsWith('.tgz')) ?? ''}`,
    )
    const before = installed(workspace)
    const { code, stderr } = await sandbox('npm ci --offline --no-audit --cache /tmp/npm && echo x > node_modules/y')
    expect({ code, stderr: stderr.replaceAll(/^npm .*\n/gm, '') }).toEqual({ code: 0, stderr: '' })
    expect(installed(workspace)).toEqual(before)
    expect(existsSync(join(workspace, 'node_modules/y'))).toBe(true)
  })

  test('a program that imports the package is also safe', () => {
    const entryPoint = join(workspace, 'node_modules/portcullis/dist/sandbox/index.js')
    const evil = `process.getBuiltinModule("fs").writeFileSync("${stolen}","")`
    const spoil = `cd node_modules/portcullis/dist/chunks; for f in *.js; do echo '${evil}' > $f; done`
    const script = `
      const { openSandbox, parsePolicy, doctor } = await import(${JSON.stringify(entryPoint)})
      const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace: process.cwd() }))
      await sandbox.spawn({ argv: ['sh', '-c', ${JSON.stringify(`(${spoil}); sleep 0.1`)}], cwd: process.cwd() }).result
      sandbox.spawn({ argv: ['sh', '-c', ${JSON.stringify(`${spoil}; touch ../../../../spoilt; sleep 600`)}], cwd: process.cwd() })
      while (!process.getBuiltinModule('fs').existsSync('spoilt')) await new Promise((done) => setTimeout(done, 20))
      await doctor()
      await sandbox.close()`
    const env = { PATH: process.env['PATH'] ?? '', HOME: tempDir() }
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: workspace, env })
    expect(existsSync(stolen)).toBe(false)
  })
})
