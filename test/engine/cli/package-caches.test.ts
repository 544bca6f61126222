import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { needsBubblewrap, needsPrograms } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Runs `agent sandbox` with the setting `sandbox_caches`. */
function confined(cwd: string, home: string, caches: readonly string[], args: readonly string[]): Promise<Ended> {
  return agent(['sandbox', '-c', `sandbox_caches=${JSON.stringify(caches)}`, ...args], { cwd, home })
}

/** Starts a server on loopback, and counts its requests. */
async function serve(answer: RequestListener): Promise<{ readonly address: string; readonly asked: () => number }> {
  let asked = 0
  const server = createServer((message, response) => {
    asked += 1
    answer(message, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}

function here(command: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const ages = { 'cache-control': 'public, max-age=31536000, immutable' }

/**
 * The result of a process that prints the path of the real Python interpreter, or fails if pip is missing. The test starts that interpreter, because
 * a wrapper on the PATH may write to the home directory after an installation.
 */
const python = spawnSync('python3', ['-c', 'import sys, pip; print(sys.executable)'], { encoding: 'utf8' })
if (python.status !== 0) console.warn('skipped, pip is needed: there is none for python3')

describe.skipIf(needsBubblewrap())('sandbox_caches', () => {
  test.skipIf(needsPrograms('npm', 'tar'))('npm installs without a network what it installed before', async () => {
    const manifest = { name: 'demo', version: '1.0.0' }
    const made = tempDir({ 'package/package.json': JSON.stringify(manifest), 'package/index.js': '' })
    here('tar', '-czf', join(made, 'demo.tgz'), '-C', made, 'package')
    const tarball = readFileSync(join(made, 'demo.tgz'))
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const { address, asked } = await serve(({ url, headers }, response) => {
      if (url === '/demo.tgz') return response.writeHead(200, ages).end(tarball)
      const dist = { tarball: `http://${headers.host}/demo.tgz`, integrity }
      const versions = { '1.0.0': { ...manifest, dist } }
      const found = { name: 'demo', 'dist-tags': { latest: '1.0.0' }, versions }
      return response.writeHead(200, { ...ages, 'content-type': 'application/json' }).end(JSON.stringify(found))
    })
    const files = {
      'package.json': JSON.stringify({ name: 'app', private: true, dependencies: { demo: '1.0.0' } }),
      '.npmrc': `registry=${address}\naudit=false\nfund=false\nupdate-notifier=false\nfetch-retries=0\n`,
    }
    const [cwd, home] = [tempDir(files), tempDir()]
    const install = ['--', 'npm', 'install', '--prefer-offline', '--no-package-lock']
    const installed = join(cwd, 'node_modules/demo/package.json')

    expect(await confined(cwd, home, ['npm'], ['--network', 'full', ...install])).toMatchObject({ code: 0 })
    expect(existsSync(installed)).toBe(true)
    const before = asked()
    expect(before).toBeGreaterThan(0)
    rmSync(join(cwd, 'node_modules'), { recursive: true })
    expect(await confined(cwd, home, ['npm'], ['--network', 'off', ...install])).toMatchObject({ code: 0 })
    expect(existsSync(installed)).toBe(true)
    expect(asked()).toBe(before)

    const elsewhere = await confined(tempDir(files), home, ['npm'], ['--network', 'off', ...install])
    expect(elsewhere.code).not.toBe(0)
  })

  test.skipIf(python.status !== 0)('pip installs a package without a network if it installed it before', async () => {
    const made = tempDir()
    const name = 'demo-1.0-py3-none-any.whl'
    const zip = [
      'import sys, zipfile',
      'wheel = zipfile.ZipFile(sys.argv[1], "w")',
      'wheel.writestr("demo.py", "")',
      'wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n")',
      'wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")',
      'wheel.writestr("demo-1.0.dist-info/RECORD", "")',
      'wheel.close()',
    ].join('\n')
    here('python3', '-c', zip, join(made, name))
    const { address, asked } = await serve((_, response) =>
      response.writeHead(200, ages).end(readFileSync(join(made, name))),
    )
    const [cwd, home] = [tempDir(), tempDir()]
    // Over plain HTTP, pip caches only downloads from trusted hosts.
    const trusted = ['--trusted-host', address.slice('http://'.length)]
    const options = ['--no-index', '--retries', '0', '--disable-pip-version-check', ...trusted, '--target']
    const install = (target: string) => [
      '--',
      python.stdout.trim(),
      '-m',
      'pip',
      'install',
      ...options,
      target,
      `${address}/${name}`,
    ]

    expect(await confined(cwd, home, ['pip'], ['--network', 'full', ...install('a')])).toMatchObject({ code: 0 })
    const before = asked()
    expect(before).toBeGreaterThan(0)
    expect(await confined(cwd, home, ['pip'], ['--network', 'off', ...install('b')])).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, 'b/demo.py'))).toBe(true)
    expect(asked()).toBe(before)
  })

  const all = ['npm', 'pnpm', 'pip', 'uv', 'cargo', 'go', 'gradle']
  const names = [
    ...['npm_config_cache', 'npm_config_store_dir', 'pnpm_config_store_dir', 'PIP_CACHE_DIR', 'UV_CACHE_DIR'],
    ...['CARGO_HOME', 'GOMODCACHE', 'GOCACHE', 'GRADLE_USER_HOME'],
  ]

  test('each variable names a directory that commands can write to, and that only its owner can read', async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    const script = names.map((name) => `mkdir -p "$${name}" && touch "$${name}/kept" && echo "$${name}"`).join(' && ')
    const ended = await confined(cwd, home, all, ['--', 'sh', '-c', script])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const paths = ended.stdout.trim().split('\n')
    expect(paths.every((path) => existsSync(join(path, 'kept')))).toBe(true)
    const base = join(home, '.cache/portcullis-caches')
    const [project = ''] = readdirSync(base)
    expect(readdirSync(join(base, project)).toSorted()).toEqual(all.toSorted())
    const places = [base, join(base, project), ...all.map((name) => join(base, project, name))]
    expect(places.map((path) => statSync(path).mode & 0o777)).toEqual(places.map(() => 0o700))
  })

  test('a variable that the user set stays as it is', async () => {
    const how = ['-c', 'shell_environment_policy.set.CARGO_HOME="/mine"', '--env', 'GOCACHE=/theirs']
    const args = [...how, '--', 'sh', '-c', 'echo $CARGO_HOME $GOCACHE']
    const ended = await confined(tempDir(), tempDir(), ['cargo', 'go'], args)
    expect(ended.stdout).toBe('/mine /theirs\n')
  })

  test.each(['read-only', 'danger-full-access'])('there are none in %s', async (mode) => {
    const home = tempDir()
    const ended = await confined(tempDir(), home, ['cargo'], ['-s', mode, '--', 'sh', '-c', 'echo [$CARGO_HOME]'])
    expect(ended.stdout).toBe('[]\n')
    expect(existsSync(join(home, '.cache/portcullis-caches'))).toBe(false)
  })

  test('a command cannot reach the cache of another project', async () => {
    const home = tempDir()
    const first = await confined(tempDir(), home, ['npm'], ['--', 'sh', '-c', 'echo $npm_config_cache'])
    const theirs = first.stdout.trim()
    const ended = await confined(tempDir(), home, ['npm'], ['--', 'touch', join(theirs, 'poison')])
    expect(ended.code).not.toBe(0)
    expect(existsSync(join(theirs, 'poison'))).toBe(false)
  })

  test('a link in place of a cache is refused, because its target would become writable', async () => {
    const [cwd, home] = [tempDir(), tempDir({ 'precious/a': '' })]
    const { stdout } = await confined(cwd, home, ['pip'], ['--', 'sh', '-c', 'echo $PIP_CACHE_DIR'])
    rmSync(stdout.trim(), { recursive: true })
    symlinkSync(join(home, 'precious'), stdout.trim())
    const ended = await confined(cwd, home, ['pip'], ['--', 'touch', `${home}/precious/b`])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(`${stdout.trim()} is a link`)
    expect(existsSync(join(home, 'precious/b'))).toBe(false)
  })

  test('a directory that others may write to is refused', async () => {
    const home = tempDir()
    mkdirSync(join(home, '.cache/portcullis-caches'), { recursive: true })
    chmodSync(join(home, '.cache/portcullis-caches'), 0o777)
    const ended = await confined(tempDir(), home, ['pip'], ['--', 'true'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('is writable by others')
  })
})
