// execa isn't used here, because git gets its directory as a descriptor, and is called synchronously, several times after
// each command.
import { spawn, spawnSync } from 'node:child_process'
import type { Readable } from 'node:stream'
import { hostProgram } from '../host-program.ts'
import { hasRawBytes } from '../path-bytes.ts'
import type { HeldDirectory } from './held-directory.ts'

/** Whether a git process on the host succeeded, and what it printed. */
type HostGitResult = { readonly ok: boolean; readonly stdout: Buffer; readonly complaint: string }

/**
 * Options that override the repository's settings, so that git itself runs no hooks, contacts no other repository, starts no file system monitor,
 * pager or clean-up, and gives no advice about a detached HEAD.
 */
const hardened = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'core.pager=cat',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting])

/**
 * The host's git, which is used only for the host's own repositories. It refuses arguments with bytes that aren't UTF-8: Node would turn these into
 * other characters, so git would work with a different name. Its input can contain any bytes.
 */
export type HostGit = {
  /** Runs git with a given input, and waits until it ends. */
  run(directory: HeldDirectory, words: readonly string[], options?: HostGitOptions): HostGitResult
  /** Runs git with a stream as its input. */
  feed(
    directory: HeldDirectory,
    words: readonly string[],
    input: Readable,
    env?: HostGitOptions['env'],
  ): Promise<HostGitResult>
}

type HostGitOptions = { readonly input?: Buffer; readonly env?: Readonly<Record<string, string>> }

/**
 * The machine's own git, which no command could have written; undefined if there is none.
 *
 * @param roots the writable roots, without symlinks
 */
export function locateHostGit(roots: readonly string[]): HostGit | undefined {
  try {
    return hostGit(hostProgram('git', roots))
  } catch {
    // There is no git program that can be trusted, so repositories are shown read-only.
    return undefined
  }
}

const notUtf8 = 'a name or path is not UTF-8'

/** How long git may take for one step, in milliseconds. Only a damaged or hostile repository takes longer. */
const longestMs = 15 * 60 * 1000

function hostGit(program: string): HostGit {
  const environment = (env: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    PATH: '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    // Git reaches the directory through the descriptor that it gets, because the directory's path may lead elsewhere by now.
    GIT_DIR: '/proc/self/fd/3',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    ...env,
  })
  return {
    run: (directory, words, { input = Buffer.alloc(0), env } = {}) => {
      if ([...words, ...Object.values(env ?? {})].some(hasRawBytes))
        return { ok: false, stdout: Buffer.alloc(0), complaint: notUtf8 }
      const { status, stdout, stderr, error } = spawnSync(program, [...hardened, ...words], {
        cwd: '/',
        env: environment(env),
        input,
        maxBuffer: 512 * 1024 * 1024,
        timeout: longestMs,
        killSignal: 'SIGKILL',
        stdio: ['pipe', 'pipe', 'pipe', directory.descriptor],
      })
      return { ok: status === 0, stdout, complaint: error?.message ?? String(stderr).trim() }
    },
    feed: (directory, words, input, env) =>
      new Promise((resolve) => {
        if (Object.values(env ?? {}).some(hasRawBytes))
          return resolve({ ok: false, stdout: Buffer.alloc(0), complaint: notUtf8 })
        const child = spawn(program, [...hardened, ...words], {
          cwd: '/',
          env: environment(env),
          stdio: ['pipe', 'pipe', 'pipe', directory.descriptor],
        })
        const stdout: Buffer[] = []
        let complaint = ''
        child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
        child.stderr?.on('data', (chunk: Buffer) => (complaint = `${complaint}${String(chunk)}`.slice(-4096)))
        // Git closes its input as soon as it has read enough. Only its exit code shows whether it failed.
        child.stdin?.on('error', () => input.resume())
        if (child.stdin !== null) input.pipe(child.stdin)
        child.once('error', (error) => resolve({ ok: false, stdout: Buffer.alloc(0), complaint: error.message }))
        child.once('close', (code) =>
          resolve({ ok: code === 0, stdout: Buffer.concat(stdout), complaint: complaint.trim() }),
        )
      }),
  }
}
