import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, vi } from 'vitest'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { testUnless } from '../../support/needs.ts'
import { closeLater, run, testInBubblewrap } from '../helpers.ts'
import { makeHome, put } from './home.ts'
import { registries, serve, type Registry } from './registries.ts'

type Build = {
  readonly program: string
  readonly registry: Registry
  readonly project: Readonly<Record<string, string>>
  /** Fills the caches in the home directory from the registry at `url`. */
  readonly fill: (url: string) => string
  /** Builds without a network. */
  readonly build: string
}

const npmProject = { 'package.json': '{"name":"x","version":"1.0.0","dependencies":{"left":"1.0.0"}}' }
const say = `node -e "console.log(require('left'))"`

// Java doesn't read HOME.
const ownRepository = '-Dmaven.repo.local=$HOME/.m2/repository'
const gradle = 'GRADLE_USER_HOME=~/.gradle GRADLE_OPTS=-Duser.home=$HOME gradle'

// For root, yarn has another default.
const yarnCache = 'export YARN_CACHE_FOLDER=~/.cache/yarn'

const builds: readonly Build[] = [
  {
    program: 'npm',
    registry: registries.npm,
    project: npmProject,
    fill: (url) => `npm config set --location project registry ${url}; npm i --no-audit && rm -rf node_modules`,
    build: `npm ci --offline --silent && ${say} && rm -r node_modules && npm i --offline --silent left@1.0.0 && ${say}`,
  },
  {
    program: 'pnpm',
    registry: registries.npm,
    project: npmProject,
    fill: (url) => `echo registry=${url} > .npmrc; pnpm i && rm -rf node_modules`,
    build: `pnpm i --offline --frozen-lockfile --reporter silent && ${say}`,
  },
  {
    program: 'yarn',
    registry: registries.npm,
    project: npmProject,
    fill: (url) => `echo 'registry "${url}"' > .yarnrc; ${yarnCache}; yarn install && rm -rf node_modules`,
    build: `${yarnCache}; yarn install --offline --frozen-lockfile --silent && ${say}`,
  },
  {
    program: 'python3',
    registry: registries.pip,
    project: {},
    fill: (url) => `python3 -m pip download -d ~/.cache/pip/wheels --index-url ${url}/simple left`,
    build: `python3 -m venv .venv && .venv/bin/pip install -q --disable-pip-version-check --no-index --find-links ~/.cache/pip/wheels left &&
      .venv/bin/python -c 'import left; print(left.name)'`,
  },
  {
    program: 'cargo',
    registry: registries.cargo,
    project: {
      'Cargo.toml': '[package]\nname = "x"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nleft = "1"\n',
      'src/main.rs': 'fn main() { println!("{}", left::name()) }\n',
    },
    // What was downloaded is unpacked only when it is built.
    fill: (url) => `mkdir .cargo
      printf '[source.crates-io]\\nreplace-with = "own"\\n[source.own]\\nregistry = "sparse+${url}/index/"\\n' > .cargo/config.toml
      cargo fetch && rm -rf ~/.cargo/registry/src`,
    build: 'cargo run --offline --locked --quiet',
  },
  {
    program: 'go',
    registry: registries.go,
    project: {
      'go.mod': 'module example.com/x\n\ngo 1.18\n\nrequire example.com/left v1.0.0\n',
      'main.go': 'package main\n\nimport "example.com/left"\n\nfunc main() { println(left.Name()) }\n',
    },
    fill: (url) =>
      `GOFLAGS=-mod=mod GONOSUMDB='*' GOPROXY=${url} go mod download all && GOFLAGS=-mod=mod GOPROXY=off go mod tidy`,
    build: 'GOPROXY=off go run . && GOPROXY=off go vet ./... && go env GOMODCACHE',
  },
  {
    program: 'mvn',
    registry: registries.maven,
    // Without plugins, which nobody but Maven's own registry has, only the parent is read from the cache.
    project: {
      'pom.xml':
        '<project><modelVersion>4.0.0</modelVersion><parent><groupId>org.example</groupId><artifactId>above</artifactId><version>1</version></parent><artifactId>x</artifactId><packaging>pom</packaging></project>',
    },
    fill: (url) => `mkdir -p ~/.m2
      echo '<settings><mirrors><mirror><id>own</id><mirrorOf>*</mirrorOf><url>${url}</url></mirror></mirrors></settings>' > .settings.xml
      mvn -B -q -s .settings.xml ${ownRepository} validate`,
    build: `mvn -B -q -o -s .settings.xml ${ownRepository} validate && cat ~/.m2/repository/org/example/above/1/above-1.pom`,
  },
  {
    program: 'gradle',
    registry: registries.maven,
    project: {
      'settings.gradle': "rootProject.name = 'x'\n",
    },
    fill: (
      url,
    ) => `printf 'repositories { maven { url "${url}" } }\\nconfigurations { own }\\ndependencies { own "org.example:left:1.0.0" }
task show { doLast { configurations.own.each { println it.name } } }\\n' > build.gradle; ${gradle} --no-daemon -q show`,
    build: `${gradle} --no-daemon --offline -q show`,
  },
  {
    program: 'bundle',
    registry: registries.bundler,
    project: {},
    fill: (url) => `printf 'source "${url}"\\ngem "left"\\n' > Gemfile
      export GEM_HOME=~/.gem/ruby/3 BUNDLE_SILENCE_ROOT_WARNING=1; bundle config set --local path.system true; bundle install`,
    build: `export GEM_HOME=~/.gem/ruby/3 BUNDLE_SILENCE_ROOT_WARNING=1; bundle install --local --quiet && bundle exec ruby -e 'require "left"; puts LEFT'`,
  },
  {
    program: 'composer',
    registry: registries.composer,
    project: {},
    fill: (url) => `echo '{"name":"x/x","repositories":[{"type":"composer","url":"${url}"},{"packagist.org":false}],
      "require":{"test/left":"1.0.0"},"config":{"secure-http":false}}' > composer.json
      export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_CACHE_DIR=$HOME/.cache/composer; composer -n -q install && rm -rf vendor`,
    build: `export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_CACHE_DIR=$HOME/.cache/composer COMPOSER_DISABLE_NETWORK=1
      composer -n -q install && php -r 'require "vendor/autoload.php"; echo left(), PHP_EOL;'`,
  },
]

/** Why a program can't be tried here; undefined if it can. */
function whyNot(program: string): string | undefined {
  // Some programs are only there to download themselves, which never ends without a network.
  const { error, status, stdout } = spawnSync(program, [program === 'go' ? 'version' : '--version'], {
    encoding: 'utf8',
    timeout: 20_000,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const untried = 'so its builds from a filled cache are not tried'
  if (error !== undefined || status !== 0) return `${program} is not installed, ${untried}`
  const isOld = /^cargo 1\.(?:[0-5]\d|6[0-7])\./.test(stdout)
  return isOld ? `this cargo is too old for a registry of files (before 1.68), ${untried}` : undefined
}

for (const { program, registry, project, fill, build } of builds) {
  testUnless(whyNot(program), testInBubblewrap)(
    `${program} builds from a filled cache without a network as outside, and leaves the cache as it was`,
    { timeout: 180_000 },
    async () => {
      // Scripts of npm set these for the programs that they start.
      for (const name of Object.keys(process.env)) if (name.startsWith('npm_')) vi.stubEnv(name, undefined)
      onTestFinished(() => void vi.unstubAllEnvs())
      const rustup = join(process.env['HOME'] ?? '', '.rustup')
      const home = await makeHome()
      if (program === 'cargo') process.env['RUSTUP_HOME'] ??= rustup
      const workspace = join(home, 'project')
      for (const [name, content] of Object.entries(project)) await put(join(workspace, name), content)
      const { url, close } = await serve(registry)
      const filled = await outside(workspace, fill(url))
      await close()
      expect(filled.code, filled.output).toBe(0)
      const kept = join(dirname(home), 'kept')
      cpSync(workspace, kept, { recursive: true, verbatimSymlinks: true })
      const sandbox = closeLater(await openSandbox(parsePolicy({ mode: 'workspace-write', workspace, home: 'closed' })))
      const before = digestOf(home)
      const { stdout, stderr, result } = await run(sandbox, `exec 2>&1; ${build}`)
      await sandbox.close()
      const after = digestOf(home)
      rmSync(workspace, { recursive: true })
      cpSync(kept, workspace, { recursive: true, verbatimSymlinks: true })
      const expected = await outside(workspace, build)
      expect(expected.output).toContain('left')
      expect([stdout + stderr, result.status === 'exited' ? result.code : result.status]).toEqual([
        expected.output,
        expected.code,
      ])
      expect(after).toEqual(before)
    },
  )
}

async function outside(
  cwd: string,
  script: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn('timeout', ['--kill-after=1', '150', 'sh', '-c', `exec 2>&1; ${script}`], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const output = await text(child.stdout)
  return { code: await ended, output }
}

/** What every file of a home directory contains, except those of the project. */
function digestOf(home: string): readonly string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== 'project' && !path.startsWith('project/'))
    .toSorted()
    .map((path) => {
      const at = join(home, path)
      const { mode, mtimeMs, size } = lstatSync(at)
      const what = (mode & 0o170000) === 0o120000 ? readlinkSync(at) : ''
      const content =
        (mode & 0o170000) === 0o100000 ? createHash('sha256').update(readFileSync(at)).digest('hex') : what
      return `${path} ${mode} ${mtimeMs} ${size} ${content}`
    })
}
