import { SandboxError, type ExecResult, type Sandbox } from '../../sandbox/index.ts'
import { sanitizeOutput } from './text/sanitize-output.ts'
import { OutputBuffer } from './text/output-buffer.ts'

/** The outcome of a git command, with its output. */
type GitResult = { readonly ok: boolean; readonly output: string; readonly complaint: string }

/** Where and how git runs. */
type GitPlace = { readonly cwd: string; readonly readOnly: boolean; readonly signal?: AbortSignal }

const outputLimitBytes = 1024 * 1024
const timeoutMs = 300_000

/**
 * Options that keep a repository's configuration from making git run hooks, a file-system monitor, pagers or external diff programs. Other programs,
 * such as filters, can still run, but only in the sandbox.
 */
export const hardened = [
  '--no-pager',
  '--no-optional-locks',
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'diff.external=', 'protocol.allow=never'].flatMap(
    (setting) => ['-c', setting],
  ),
]

/**
 * Runs git for the engine. Git runs in a sandbox, never directly on the host, because the repository's configuration can make it run other programs.
 *
 * @param where with `readOnly`, git can't write anything
 * @returns the outcome; a command that could not be started counts as failed
 */
export async function runGit(sandbox: Sandbox, words: readonly string[], where: GitPlace): Promise<GitResult> {
  const [stdout, stderr] = [new OutputBuffer(outputLimitBytes), new OutputBuffer(outputLimitBytes)]
  const { status, code } = await spawnGit(sandbox, words, where, stdout, stderr)
  const complaint = sanitizeOutput(stderr.toBytes()).trim()
  return {
    ok: code === 0,
    output: sanitizeOutput(stdout.toBytes()).trimEnd(),
    complaint: complaint === '' ? `git ${words[0] ?? ''} ${status}` : complaint,
  }
}

/**
 * Runs git in a sandbox, as `runGit` does, and returns its whole output, byte for byte.
 *
 * @param most the maximum number of bytes that git may print
 * @param ends the exit codes that count as success. Default: 0
 * @returns the output, or, if git failed or printed too much, a sentence that says so
 */
export async function readGit(
  sandbox: Sandbox,
  words: readonly string[],
  where: GitPlace,
  most: number,
  ends: readonly number[] = [0],
): Promise<Buffer | string> {
  const [stdout, stderr] = [new OutputBuffer(most), new OutputBuffer(outputLimitBytes)]
  const { status, code } = await spawnGit(sandbox, words, where, stdout, stderr)
  if (code === undefined || !ends.includes(code)) {
    const complaint = sanitizeOutput(stderr.toBytes()).trim()
    return complaint === '' ? `git ${words.find((word) => !word.startsWith('-')) ?? ''} ${status}` : complaint
  }
  return stdout.omitted > 0 ? `git ${words[0] ?? ''} printed more than ${most} bytes` : stdout.toBytes()
}

async function spawnGit(
  sandbox: Sandbox,
  words: readonly string[],
  { cwd, readOnly, signal }: GitPlace,
  stdout: OutputBuffer,
  stderr: OutputBuffer,
): Promise<{ readonly status: string; readonly code: number | undefined }> {
  try {
    const child = sandbox.spawn({
      argv: ['git', ...hardened, ...words],
      cwd,
      readOnly,
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
      env: { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    })
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes))
    const result = await child.result
    return { status: endOf(result), code: result.status === 'exited' ? result.code : undefined }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    stderr.push(Buffer.from(error.message))
    return { status: 'not started', code: undefined }
  }
}

function endOf(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `ended with exit code ${result.code}`
    case 'signaled':
      return `was ended by ${result.signal}`
    case 'timed-out':
      return `didn't end within ${result.afterMs / 1000} s`
    case 'cancelled':
      return 'was cancelled'
    default:
      return result satisfies never
  }
}
