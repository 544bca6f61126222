import type { Approved, Verdict } from '../../policies/index.ts'
import type { ExecResult } from '../../sandbox/index.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import type { AskedGrants } from '../escalation/escalation.ts'
import { isReadOnly, type CommandRequest, type ExecAction } from './command-action.ts'
import { LiveCommand } from './command-sessions.ts'
import { searchedSecrets } from './searched-secrets.ts'
import type { ToolContext } from './tool.ts'

const defaultTimeoutMs = 120_000
/** How many milliseconds a call waits by default for a command with a terminal, which may be waiting for input. */
const terminalYieldMs = 10_000
const terminalSize = { columns: 120, rows: 40 }
/** Starts an approved command. Its arguments and grants come only from the approved action. */
export async function start(
  approved: Approved<ExecAction>,
  verdict: Verdict,
  asked: AskedGrants | undefined,
  request: CommandRequest,
  context: ToolContext,
  lasting: boolean,
): Promise<LiveCommand> {
  const [program, ...words] = approved.argv
  if (program === undefined) throw new TypeError('an approved command must have at least one word')
  const grants = asked?.approved(approved.escalation?.grants ?? []) ?? []
  if (verdict.holds === 'run') context.escalation?.keep(grants)
  const sandbox = (await context.escalation?.sandboxFor(grants)) ?? context.sandbox
  // If the call sets no time limit, a command in the background is limited only by the sandbox policy.
  const timeoutMs = request.timeout_ms ?? (lasting ? undefined : defaultTimeoutMs)
  // Changes are not tracked for a command that is proven to only read or that runs in a read-only sandbox.
  const reads = isReadOnly(request, context)
  if (approved.sandbox !== 'read-only' && !reads) await context.state.changes?.begin(context)
  const child = sandbox.spawn({
    argv: [program, ...words],
    cwd: approved.cwd,
    ...(context.variables === undefined ? {} : { env: context.variables }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(request.tty === true ? { terminal: terminalSize } : {}),
    readOnly: approved.sandbox === 'read-only',
    // A command that only reads files is run without approval, so files that may be read only with approval are hidden from it.
    hidden:
      reads && approved.sandbox !== 'danger-full-access'
        ? searchedSecrets(approved.argv, approved.cwd, sandbox.policy.views)
        : [],
  })
  return new LiveCommand(child, approved.sandbox, sandbox, shellJoin(approved.argv), approved.cwd)
}

/** How long a call waits for its command before it returns, in milliseconds; undefined if it waits until the command ends. */
export function yieldOf({ yield_time_ms: ms, tty }: CommandRequest): number | undefined {
  return ms ?? (tty === true ? terminalYieldMs : undefined)
}

/**
 * Waits until a command ends, but no longer than the call's waiting time (see `yieldOf`). If the call is cancelled meanwhile, the command is killed.
 *
 * @returns undefined if the command is still running
 */
export async function waitFor(
  command: LiveCommand,
  request: CommandRequest,
  { signal }: ToolContext,
): Promise<ExecResult | undefined> {
  const give = (): void => command.kill()
  signal.addEventListener('abort', give, { once: true })
  if (signal.aborted) give()
  try {
    const ms = yieldOf(request)
    const result = ms === undefined ? await command.result : await command.endWithin(ms, signal)
    return result ?? (signal.aborted ? await command.result : undefined)
  } finally {
    signal.removeEventListener('abort', give)
  }
}
