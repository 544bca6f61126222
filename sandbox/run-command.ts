import { text } from 'node:stream/consumers'
import type { Command, ExecResult, Sandbox } from './sandbox.ts'

/** Options for running a command to completion. */
export type RunCommandOptions = Pick<Command, 'env' | 'readOnly' | 'timeoutMs' | 'signal'> & {
  /** The directory in which the command starts, as an absolute path. Default: the workspace. */
  readonly cwd?: string
  /** The command's standard input, as text. Default: none. */
  readonly input?: string
}

/** How a command ended, and its output, decoded as UTF-8. The output is not larger than the policy's limit. */
export type CommandResult = ExecResult & { readonly stdout: string; readonly stderr: string }

/** A sandbox for callers of the library. It can also run a command to completion in one call, and `await using` closes it automatically. */
export type OpenedSandbox = Sandbox &
  AsyncDisposable & {
    /**
     * Runs a command to completion. A non-zero exit code, a timeout and a denied access are results, not errors.
     *
     * @throws SandboxError when the command can't be started (invalid text, missing directory, missing program)
     */
    run(argv: Command['argv'], options?: RunCommandOptions): Promise<CommandResult>
  }

/**
 * Adds the methods `run` and `Symbol.asyncDispose` to a sandbox, for callers of the library. If a caller wraps the sandbox and copies its fields,
 * `run` uses the wrapper's `spawn`.
 */
export function runnable(sandbox: Sandbox): OpenedSandbox {
  return Object.assign(sandbox, {
    run(this: Sandbox, argv: Command['argv'], options: RunCommandOptions = {}): Promise<CommandResult> {
      return runCommand(this, argv, options)
    },
    [Symbol.asyncDispose](this: Sandbox): Promise<void> {
      return this.close()
    },
  })
}

async function runCommand(
  sandbox: Sandbox,
  argv: Command['argv'],
  { input, cwd = sandbox.policy.workspace, ...rest }: RunCommandOptions,
): Promise<CommandResult> {
  const child = sandbox.spawn({ argv, cwd, ...rest, ...(input === undefined ? {} : { stdin: 'pipe' }) })
  // It isn't an error if a command ends, or closes its input, without reading all of it.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const [stdout, stderr, result] = await Promise.all([text(child.stdout), text(child.stderr), child.result])
  return { ...result, stdout, stderr }
}
