import { execa } from 'execa'
import { hostProgram } from '../../../sandbox/index.ts'

/** Options that keep git on the host from running anything that a cloned repository or a template brings, from maintenance, and from hints. */
const hardened = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'init.templateDir=',
].flatMap((setting) => ['-c', setting])

/** Environment variables that would make git use another repository, work tree, index or object store than that of its working directory. */
const leading = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR']

const longestMs = 3_600_000

/** Thrown if a repository, or a commit in it, is unavailable. The message says why. */
export class RepositoryFailure extends Error {}

/**
 * Runs the host's git on the repositories of a batch, with the user's own access rights. Git never asks for a password in the terminal.
 *
 * @param environment the variables of the process that started the batch
 */
export class Git {
  readonly #program: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(environment: Readonly<NodeJS.ProcessEnv>) {
    this.#program = hostProgram('git', [])
    const kept = Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || leading.includes(name) ? [] : [[name, value] as const],
    )
    this.#environment = {
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
      ...Object.fromEntries(kept),
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
    }
  }

  /**
   * Runs git and waits until it exits.
   *
   * @returns git's standard output
   * @throws RepositoryFailure with git's message if git fails or takes too long; the signal's reason if the signal aborts
   */
  async run(cwd: string, words: readonly string[], signal?: AbortSignal): Promise<string> {
    const { exitCode, stdout, stderr, shortMessage } = await execa(this.#program, [...hardened, ...words], {
      cwd,
      env: this.#environment,
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      timeout: longestMs,
      maxBuffer: 64 * 1024 * 1024,
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    })
    signal?.throwIfAborted()
    if (exitCode === 0) return stdout
    const said = stderr.trim().split('\n').slice(-3).join(' ')
    throw new RepositoryFailure(`git ${words[0] ?? ''}: ${said === '' ? (shortMessage ?? 'it failed') : said}`)
  }
}
