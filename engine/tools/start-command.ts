import type { Approved, Verdict } from '../../policies/index.ts'
import type { ExecResult } from '../../sandbox/index.ts'
import type { AskedGrants } from '../escalation/escalation.ts'
import { isReadOnly, type CommandRequest, type ExecAction } from './command-action.ts'
import { LiveCommand } from './command-sessions.ts'
import { searchedSecrets } from './searched-secrets.ts'
import type { ToolContext } from './tool.ts'

const defaultTimeoutMs = 120_000
/** A command with a terminal may wait for somebody to type. */
const terminalYieldMs = 10_000
const terminalSize = { columns: 120, rows: 40 }
/** Starts what was approved, and only that: the command's words and what it is granted come from the approved action. */
export async function start(
  approved: Approved<ExecAction>,
  verdict: Verdict,
  asked: AskedGrants | undefined,
  request: CommandRequest,
  context: ToolContext,
  lasting: boolean,
): Promise<LiveCommand> {
  const [program, ...words] = approved.argv
  if (program === undefined) throw new TypeError('an approved command has at least one word')
  const grants = asked?.approved(approved.escalation?.grants ?? []) ?? []
  if (verdict.holds === 'run') context.escalation?.keep(grants)
  const sandbox = (await context.escalation?.sandboxFor(grants)) ?? context.sandbox
  // One that may go on is limited by the policy alone, unless the call says otherwise.
  const timeoutMs = request.timeout_ms ?? (lasting ? undefined : defaultTimeoutMs)
  // One that is proven to only read is not worth a look; one whose right to write was taken can't.
  const reads = isReadOnly(request, context)
  if (approved.sandbox !== 'read-only' && !reads) await context.state.changes?.begin(context)
  const child = sandbox.spawn({
    argv: [program, ...words],
    cwd: approved.cwd,
    ...(context.variables === undefined ? {} : { env: context.variables }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(request.tty === true ? { terminal: terminalSize } : {}),
    readOnly: approved.sandbox === 'read-only',
    // Nobody was asked about what it reads, so it reads nothing that somebody would have been asked about.
    hidden: reads && approved.sandbox !== 'danger-full-access' ? searchedSecrets(approved.argv, approved.cwd) : [],
  })
  return new LiveCommand(child, approved.sandbox, sandbox)
}

/** How long a call waits for its command; undefined: to its end. */
export function yieldOf({ yield_time_ms: ms, tty }: CommandRequest): number | undefined {
  return ms ?? (tty === true ? terminalYieldMs : undefined)
}

/** Waits for a command as long as its call does; while it does, giving up the call ends the command. */
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
