import { SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import { OutputBuffer } from '../core/text/output-buffer.ts'
import type { HandlerResult } from './handler-result.ts'
import { hookCommand } from './hook-command.ts'
import { readHookOutput } from './output.ts'
import type { Handler } from './hooks-schema.ts'

/** The maximum size of a hook's output, in bytes. Valid answers are far shorter. */
const outputLimitBytes = 1024 * 1024

/** Where and how a hook's command runs. */
type CommandHookOptions = {
  readonly sandbox: Sandbox
  readonly cwd: string
  /** The directory of the run, which the hook gets as `CLAUDE_PROJECT_DIR`. */
  readonly project: string
  readonly pluginRoot: string | undefined
  /** The file to which the hook may write variables for later commands. Undefined: the hook can't set variables. */
  readonly envFile: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Runs a command hook. It gets the event as JSON on standard input and answers through its exit code and standard output. Exit code 0: the output is
 * the answer. 2: a denial, with the reason on standard error. Any other: the hook failed.
 */
export async function runCommandHook(
  handler: Extract<Handler, { type: 'command' }>,
  input: string,
  { sandbox, cwd, project, pluginRoot, envFile, timeoutMs, signal }: CommandHookOptions,
): Promise<HandlerResult> {
  const { argv, env: places } = hookCommand(handler, { project, pluginRoot })
  const env = envFile === undefined ? places : { ...places, CLAUDE_ENV_FILE: envFile }
  let child: ReturnType<Sandbox['spawn']>
  try {
    child = sandbox.spawn({ argv, cwd, env, stdin: 'pipe', timeoutMs, signal })
  } catch (error) {
    if (error instanceof SandboxError) return { status: 'failed', reason: error.message }
    throw error
  }
  const stdout = new OutputBuffer(outputLimitBytes)
  const stderr = new OutputBuffer(outputLimitBytes)
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes))
  // Hooks may close their standard input without reading it. That isn't an error.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const result = await child.result
  const complaint = sanitizeOutput(stderr.toBytes()).trim()
  switch (result.status) {
    case 'exited': {
      if (result.code === 2) return { status: 'blocked', reason: complaint === '' ? 'it gave no reason' : complaint }
      if (result.code !== 0) {
        const why = complaint === '' ? '' : `: ${complaint.slice(0, 500)}`
        return { status: 'failed', reason: `it exited with code ${result.code}${why}` }
      }
      const said = readHookOutput(new TextDecoder().decode(stdout.toBytes()))
      return 'problem' in said ? { status: 'failed', reason: said.problem } : { status: 'answered', ...said }
    }
    case 'signaled':
      return { status: 'failed', reason: `it was killed by ${result.signal}` }
    case 'timed-out':
      return { status: 'failed', reason: `it took longer than ${result.afterMs / 1000} s` }
    case 'cancelled':
      return { status: 'failed', reason: 'the run is being stopped' }
    default:
      return result satisfies never
  }
}
