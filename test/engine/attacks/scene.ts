import { execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

/** The user of a run. File modes don't stop root, so both root and an ordinary user are tried. */
export type User = 'root' | 'ordinary'

/** The part of a host that is attacked. It is created for one run and removed afterwards. */
export type Scene = {
  /** The directory that contains all other places of the scene. It is not below /tmp, which a sandbox hides. */
  readonly base: string
  readonly home: string
  /** A repository at a path where a CI checkout would be. */
  readonly workspace: string
  /** A directory outside the workspace. The run is granted no access to it. */
  readonly outside: string
  /** The directory in which the steps of a CI job leave files for each other. */
  readonly temp: string
  /** A bare repository that the workspace is a clone of. */
  readonly remote: string
  /** Writes a file and creates its directories. The path is relative to `base`. */
  readonly write: (path: string, text: string) => void
  readonly git: (directory: string, ...args: readonly string[]) => string
  /** Makes the run's user the owner of all files and directories of the scene. */
  readonly handOver: (user: User) => void
  close(): void
}

/** Creates a home directory, a repository that contains a submodule and another repository, and a directory outside them. */
export function makeScene(): Scene {
  const base = mkdtempSync('/var/tmp/portcullis-attacks-')
  const places = {
    base,
    home: join(base, 'home'),
    workspace: join(base, 'work/project/project'),
    outside: join(base, 'outside'),
    temp: join(base, 'work/_temp'),
    remote: join(base, 'remote.git'),
  }
  for (const place of [places.home, places.outside, places.temp]) mkdirSync(place, { recursive: true })
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  // With this environment, git doesn't read the settings of the user who runs the tests.
  const env = { PATH: process.env['PATH'], HOME: places.home, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const settings = ['user.name=a', 'user.email=a@b', 'init.defaultBranch=main', 'protocol.file.allow=always']
  const git = (directory: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-C', directory, ...settings.flatMap((each) => ['-c', each]), ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  git(base, 'init', '-q', '--bare', 'library.git')
  git(base, 'init', '-q', '--bare', 'remote.git')
  for (const name of ['library', 'remote']) {
    const seed = join(base, `seed-${name}`)
    mkdirSync(seed)
    git(seed, 'init', '-q')
    write(`seed-${name}/file`, `${name}\n`)
    if (name === 'remote') git(seed, 'submodule', '--quiet', 'add', join(base, 'library.git'), 'library')
    git(seed, 'add', '.')
    git(seed, 'commit', '-qm', 'first')
    git(seed, 'push', '-q', join(base, `${name}.git`), 'main')
    rmSync(seed, { recursive: true })
  }
  mkdirSync(dirname(places.workspace), { recursive: true })
  git(base, 'clone', '-q', '--recurse-submodules', places.remote, places.workspace)
  for (const [name, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@b'],
  ] as const)
    git(places.workspace, 'config', name, value)
  const nested = join(places.workspace, 'nested/repository')
  mkdirSync(nested, { recursive: true })
  git(nested, 'init', '-q')
  return {
    ...places,
    write,
    git,
    handOver: (user) => handOver(base, user),
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** The id of the user `nobody`, who owns none of the system's files. */
export const nobody = 65534

/** Makes a run's user the owner of a directory and its content. */
export function handOver(directory: string, user: User): void {
  if (user === 'ordinary') for (const path of everyPath(directory)) chownSync(path, nobody, nobody)
}

function* everyPath(directory: string): Generator<string> {
  yield directory
  for (const { name } of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, name)
    const stat = lstatSync(path)
    if (stat.isDirectory()) yield* everyPath(path)
    else if (!stat.isSymbolicLink()) yield path
  }
}

/**
 * Returns how to start the built `agent` as this user. An ordinary user gets a copy, because that user may not have access to the repository's
 * directory.
 */
export function programFor(user: User): {
  readonly argv: readonly [string, ...string[]]
  readonly node: string
  close(): void
} {
  const dist = new URL('../../../dist', import.meta.url).pathname
  if (user === 'root')
    return { argv: [process.execPath, join(dist, 'bin/agent.js')], node: process.execPath, close: () => {} }
  const copy = mkdtempSync('/var/tmp/portcullis-attacks-program-')
  execFileSync('chmod', ['755', copy])
  const node = join(copy, 'node')
  copyFileSync(process.execPath, node)
  cpSync(dist, join(copy, 'dist'), { recursive: true })
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
  return {
    argv: [node, join(copy, 'dist/bin/agent.js')],
    node,
    close: () => rmSync(copy, { recursive: true, force: true }),
  }
}

/** How a program ended, and its output. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/**
 * Runs a program as this user, with only these environment variables. `group` is the group id of an ordinary user. It can be the group of docker's
 * socket, so that the user can connect to the socket.
 */
export async function runAs(
  user: User,
  argv: readonly string[],
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly group?: number | undefined
  },
): Promise<Ended> {
  const identity = user === 'root' ? {} : { uid: nobody, gid: options.group ?? nobody }
  const [command = '', ...words] = argv
  const child = spawn(command, words, {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
