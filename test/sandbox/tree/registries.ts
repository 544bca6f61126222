import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zip } from './zip.ts'

/** The files that a registry of one package manager serves, by path. */
export type Registry = (url: string) => Readonly<Record<string, string | Buffer>>

/** A tar archive of these files, compressed, as `tar` makes it. */
function tarball(files: Readonly<Record<string, string>>, ...options: readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const tops = [...new Set(Object.keys(files).map((name) => name.split('/')[0] ?? ''))]
    return execFileSync('tar', ['-c', ...options, '-C', folder, '--', ...tops])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const hash = (algorithm: string, bytes: Buffer, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHash(algorithm).update(bytes).digest(encoding)

/** Registries with one package, whose name is `left` or nearly so, and whose only function answers that it is left. */
export const registries = {
  npm: (url) => {
    const manifest = { name: 'left', version: '1.0.0', main: 'index.js' }
    const packed = tarball(
      { 'package/package.json': JSON.stringify(manifest), 'package/index.js': "module.exports = 'left'\n" },
      '-z',
    )
    const dist = {
      tarball: `${url}/left/-/left-1.0.0.tgz`,
      integrity: `sha512-${hash('sha512', packed, 'base64')}`,
      shasum: hash('sha1', packed),
    }
    const version = { ...manifest, dist }
    return {
      '/left': JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
      '/left/-/left-1.0.0.tgz': packed,
    }
  },
  pip: () => {
    const about = 'Metadata-Version: 2.1\nName: left\nVersion: 1.0.0\n'
    const wheel = 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
    const file = 'left-1.0.0-py3-none-any.whl'
    const info = 'left-1.0.0.dist-info'
    return {
      '/simple/left/': `<!DOCTYPE html><html><body><a href="/${file}">${file}</a></body></html>`,
      [`/${file}`]: zip({
        'left.py': "name = 'left'\n",
        [`${info}/METADATA`]: about,
        [`${info}/WHEEL`]: wheel,
        [`${info}/RECORD`]: `left.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
      }),
    }
  },
  cargo: (url) => {
    const crate = tarball(
      {
        'left-1.0.0/Cargo.toml': '[package]\nname = "left"\nversion = "1.0.0"\nedition = "2021"\n',
        'left-1.0.0/src/lib.rs': 'pub fn name() -> &\'static str { "left" }\n',
      },
      '-z',
    )
    const entry = { name: 'left', vers: '1.0.0', deps: [], cksum: hash('sha256', crate), features: {}, yanked: false }
    return {
      '/index/config.json': JSON.stringify({ dl: `${url}/crates/{crate}-{version}.crate` }),
      '/index/le/ft/left': `${JSON.stringify(entry)}\n`,
      '/crates/left-1.0.0.crate': crate,
    }
  },
  go: () => {
    const mod = 'module example.com/left\n\ngo 1.18\n'
    const at = 'example.com/left@v1.0.0'
    return {
      '/example.com/left/@v/list': 'v1.0.0\n',
      '/example.com/left/@v/v1.0.0.info': '{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}',
      '/example.com/left/@v/v1.0.0.mod': mod,
      '/example.com/left/@v/v1.0.0.zip': zip({
        [`${at}/go.mod`]: mod,
        [`${at}/left.go`]: 'package left\n\nfunc Name() string { return "left" }\n',
      }),
    }
  },
  maven: () => ({
    '/org/example/above/1/above-1.pom':
      '<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>above</artifactId><version>1</version><packaging>pom</packaging><name>left</name></project>',
    '/org/example/left/1.0.0/left-1.0.0.pom':
      '<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>left</artifactId><version>1.0.0</version></project>',
    '/org/example/left/1.0.0/left-1.0.0.jar': zip({
      'META-INF/MANIFEST.MF': 'Manifest-Version: 1.0\n',
      'left.txt': 'left\n',
    }),
  }),
  bundler: () => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
    try {
      writeFileSync(join(folder, 'left.rb'), "LEFT = 'left'\n")
      writeFileSync(
        join(folder, 'left.gemspec'),
        "Gem::Specification.new { |s| s.name = 'left'; s.version = '1.0.0'; s.summary = 'x'; s.authors = ['x']; s.files = ['left.rb']; s.require_paths = ['.'] }\n",
      )
      execFileSync('gem', ['build', '--silent', 'left.gemspec'], { cwd: folder, stdio: 'ignore' })
      const gem = readFileSync(join(folder, 'left-1.0.0.gem'))
      const info = `---\n1.0.0 |checksum:${hash('sha256', gem)}\n`
      return {
        '/versions': `created_at: 2024-01-01T00:00:00Z\n---\nleft 1.0.0 ${hash('md5', Buffer.from(info))}\n`,
        '/names': '---\nleft\n',
        '/info/left': info,
        '/gems/left-1.0.0.gem': gem,
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
  composer: (url) => {
    const archive = zip({
      'left/composer.json': '{"name":"test/left"}',
      'left/left.php': "<?php function left() { return 'left'; }\n",
    })
    const manifest = {
      name: 'test/left',
      version: '1.0.0',
      autoload: { files: ['left.php'] },
      dist: { type: 'zip', url: `${url}/left.zip`, shasum: hash('sha1', archive), reference: '1' },
    }
    return {
      '/packages.json': JSON.stringify({ packages: { 'test/left': { '1.0.0': manifest } } }),
      '/left.zip': archive,
    }
  },
} satisfies Record<string, Registry>

/** Serves a registry from the loopback interface. */
export async function serve(
  registry: Registry,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  let files: ReturnType<Registry> = {}
  const server = createServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://localhost').pathname
    const found = files[path]
    if (found === undefined) response.writeHead(404)
    else if (path.endsWith('/')) response.setHeader('content-type', 'text/html')
    response.end(found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  files = registry(url)
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
