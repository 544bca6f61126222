import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { openSandbox, parsePolicy, SandboxError, type Sandbox } from '../../../sandbox/index.ts'
import { image, imageRoots } from '../docker-image.ts'

/** The outcome of a race: the number of tries, and what got through. */
export type Raced = { readonly race: string; readonly tries: number; readonly failures: readonly string[] }

/** The directories of a race: a workspace, and next to it files that no command may read or write. */
type Scene = { readonly workspace: string; readonly outside: string }

type Race = {
  readonly name: string
  /** Set if the race needs mounts that are created for each command. */
  readonly bubblewrapOnly?: true
  /** The files in the workspace, by path. The path of a directory ends in a slash. */
  readonly files?: readonly string[]
  readonly policy?: (scene: Scene) => { readonly deniedReads?: string[]; readonly writableRoots?: string[] }
  /** A command that is run before the race. */
  readonly before: string
  /** The names of two entries in the workspace, which the host swaps continuously. */
  readonly exchanged: readonly [string, string]
  /** The command that is run in each attempt. */
  readonly command: (scene: Scene) => string
}

const secret = 'the-secret-beside'

/** The races. In each of them, a process on the host swaps two names. Another command in the sandbox could do nothing worse. */
export const races: readonly Race[] = [
  {
    name: 'a directory for a link, and out of it',
    policy: ({ outside }) => ({ deniedReads: [join(outside, 'key')] }),
    before: `mkdir -p sub/outside/objects sub/outside/refs; echo 'ref: refs/heads/m' > sub/outside/HEAD; ln -s .. link`,
    exchanged: ['sub', 'link'],
    command: ({ outside }) => `echo pwned > ${outside}/made; cat ${outside}/key`,
  },
  {
    name: 'the parent of a denied directory',
    bubblewrapOnly: true,
    files: ['cfg/private/key', 'other/private/'],
    policy: ({ workspace }) => ({ deniedReads: [join(workspace, 'cfg/private')] }),
    before: 'true',
    exchanged: ['cfg', 'other'],
    command: () => 'cat */private/key',
  },
  {
    name: 'a root in a root for a link',
    bubblewrapOnly: true,
    files: ['cache/'],
    policy: ({ workspace }) => ({ writableRoots: [join(workspace, 'cache')] }),
    before: 'ln -s ../outside link',
    exchanged: ['cache', 'link'],
    command: ({ outside }) => `echo pwned > ${outside}/made; echo pwned > cache/made`,
  },
  {
    name: 'a protected directory for a link',
    files: ['.vscode/tasks.json'],
    before: 'ln -s ../outside link',
    exchanged: ['.vscode', 'link'],
    command: ({ outside }) =>
      `echo pwned > .vscode/made; echo pwned > ${outside}/made; echo pwned > ${outside}/tasks.json`,
  },
  {
    name: 'a planted directory for a link, while it is taken away',
    before: 'ln -s ../outside link; mkdir .claude',
    exchanged: ['.claude', 'link'],
    command: () => 'mkdir -p .claude 2>/dev/null; echo planted > .claude/settings.json; true',
  },
  {
    name: 'a repository for a link, while it is looked at',
    before: 'git init -q n; mkdir -p x; ln -s ../outside link; git init -q .',
    exchanged: ['n', 'link'],
    command: () =>
      'git init -q n 2>/dev/null; echo planted > n/.git/hooks/pre-commit; git -C n config core.fsmonitor x; true',
  },
  {
    name: 'settings that may hold a token for a link to a key',
    before: 'echo registry=x > .npmrc; ln -s ../outside/key link',
    exchanged: ['.npmrc', 'link'],
    command: () => 'cat .npmrc',
    policy: ({ outside }) => ({ deniedReads: [outside] }),
  },
]

/** A program that calls renameat2(2) with RENAME_EXCHANGE again and again, until it is killed. */
const exchange = `
import os, ctypes, sys
call = ctypes.CDLL(None).syscall
one, other = (name.encode() for name in sys.argv[1:])
print('ready', flush=True)
while True: call(${process.arch === 'arm64' ? 276 : 316}, -100, one, -100, other, 2)`

/** Runs each race this many times, and returns what got through. */
export async function runRaces(
  backend: 'bubblewrap' | 'docker',
  tries: number,
  chosen = races,
): Promise<readonly Raced[]> {
  const raced: Raced[] = []
  for (const race of chosen) {
    if (race.bubblewrapOnly === true && backend === 'docker') continue
    raced.push({ race: race.name, tries, failures: await runOne(race, backend, tries) })
  }
  return raced
}

async function runOne(race: Race, backend: 'bubblewrap' | 'docker', tries: number): Promise<readonly string[]> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-race-')))
  const scene = { workspace: join(base, 'ws'), outside: join(base, 'outside') }
  const { workspace, outside } = scene
  for (const directory of [workspace, join(outside, '.git/hooks')]) await mkdir(directory, { recursive: true })
  for (const name of ['key', 'tasks.json', 'settings.json'])
    await writeFile(join(outside, name), `token = x\n${secret}\n`)
  for (const name of race.files ?? []) {
    await mkdir(name.endsWith('/') ? join(workspace, name) : dirname(join(workspace, name)), { recursive: true })
    if (!name.endsWith('/')) await writeFile(join(workspace, name), secret)
  }
  // The quarantine is in the race's directory, because an ordinary user may have no home.
  const state = process.env['XDG_STATE_HOME']
  process.env['XDG_STATE_HOME'] = join(base, 'state')
  const readableRoots = backend === 'docker' ? [...imageRoots] : [dirname(process.execPath)]
  const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots, ...race.policy?.(scene) })
  const sandbox = await openSandbox(policy, { backend, image })
  const before = await listing(outside)
  try {
    await run(sandbox, race.before)
    const child = spawn('python3', ['-c', exchange, ...race.exchanged], {
      cwd: workspace,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    try {
      const failures: string[] = []
      for (let count = 1; count <= tries; count += 1) {
        const said = await run(sandbox, race.command(scene)).catch((error: unknown) => error)
        // If a link blocks a container's mount, the daemon reports that in its own words.
        if (said instanceof Error) {
          if (!SandboxError.is(said, 'path-changed') && backend === 'bubblewrap')
            failures.push(`try ${count}: ${said.message}`)
        } else if (String(said).includes(secret)) failures.push(`try ${count}: it read the secret`)
        if (existsSync(join(outside, 'made'))) return [...failures, `try ${count}: it wrote outside`]
        if ((await listing(outside)) !== before) return [...failures, `try ${count}: what lay outside is changed`]
      }
      return failures
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  } finally {
    await sandbox.close()
    if (state === undefined) delete process.env['XDG_STATE_HOME']
    else process.env['XDG_STATE_HOME'] = state
    await rm(base, { recursive: true, force: true })
  }
}

async function listing(directory: string): Promise<string> {
  const names = (await readdir(directory, { recursive: true })).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')))
  return JSON.stringify([names, texts])
}

async function run(sandbox: Sandbox, script: string): Promise<string> {
  const started = sandbox.spawn({ argv: ['sh', '-c', script], cwd: sandbox.policy.workspace })
  const [stdout, stderr] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
  return stdout + stderr
}
