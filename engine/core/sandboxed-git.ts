import { SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { sanitizeOutput } from './text/sanitize-output.ts'
import { OutputBuffer } from './text/output-buffer.ts'

/** How a git command ended, with what it printed. */
type GitResult = { readonly ok: boolean; readonly output: string; readonly complaint: string }

const outputLimitBytes = 1024 * 1024
const timeoutMs = 300_000

/** What a repository's configuration must not make git run, though it runs confined too. */
export const hardened = [
  '--no-pager',
  '--no-optional-locks',
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'diff.external=', 'protocol.allow=never'].flatMap(
    (setting) => ['-c', setting],
  ),
]

/**
 * Runs git for the run itself, in a sandbox: never on the host, whatever the repository's configuration says.
 *
 * @param readOnly whether it may write nothing
 * @returns how it ended; a command that could not be started has failed
 */
export async function runGit(
  sandbox: Sandbox,
  words: readonly string[],
  { cwd, readOnly, signal }: { readonly cwd: string; readonly readOnly: boolean; readonly signal?: AbortSignal },
): Promise<GitResult> {
  try {
    const child = sandbox.spawn({
      argv: ['git', ...hardened, ...words],
      cwd,
      readOnly,
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
      env: { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    })
    const [stdout, stderr] = [new OutputBuffer(outputLimitBytes), new OutputBuffer(outputLimitBytes)]
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes))
    const result = await child.result
    const complaint = sanitizeOutput(stderr.toBytes()).trim()
    const ok = result.status === 'exited' && result.code === 0
    return {
      ok,
      output: sanitizeOutput(stdout.toBytes()).trimEnd(),
      complaint: complaint === '' ? `git ${words[0] ?? ''} ${result.status}` : complaint,
    }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    return { ok: false, output: '', complaint: error.message }
  }
}
