import { execa } from 'execa'
import { hostProgram } from '../../../sandbox/index.ts'

/** Options that keep git from obeying a cloned repository on the host, wherever it comes from. */
const hardened = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'init.templateDir=',
].flatMap((setting) => ['-c', setting])

/** Variables that would make git use another repository than the one in which it runs. */
const leading = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR']

const longestMs = 3_600_000

/** A repository is unavailable; the message is git's. */
export class RepositoryFailure extends Error {}

/**
 * The host's git, with the user's own access to the repositories that a batch names. It asks nobody for a password.
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
   * Runs git to its end.
   *
   * @returns what it printed
   * @throws RepositoryFailure with git's message if it fails
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
