import { spawn, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { stopCommands } from '../shared/runner.ts'

/** The path of the engine's program, which is bundled with this action, so that nothing has to be installed. */
const program = join(dirname(fileURLToPath(import.meta.url)), 'engine/dist/bin/agent.js')

/** The environment variables of this step that are passed to the engine. Tokens of the job, `ACTIONS_*`, inputs and the runner's files are left out. */
const handed =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|(?:https?|no|all)_proxy|(?:HTTPS?|NO|ALL)_PROXY|(?:OPENAI|ANTHROPIC)_BASE_URL|GITHUB_(?:SERVER_URL|REPOSITORY|RUN_ID)|OTEL_\w+|TRACEPARENT|TRACESTATE)$/

/** The fields of a run's last event that this action reads. */
export type Ending = {
  readonly type: string
  readonly result?: string
  readonly error?: { readonly message: string }
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }
  readonly cost_usd?: number
  readonly denied?: number
  readonly audit_head?: string
  readonly review?: { readonly findings: Readonly<Record<string, number>> }
  readonly duration_ms?: number
}

/** The result of a run of the engine. */
export type Outcome = {
  readonly exitCode: number
  /** All lines that `--json` printed. */
  readonly events: string
  readonly ending: Ending | undefined
  readonly sessionId: string
  readonly finalMessage: string
}

/** Returns the engine's environment: the variables that it needs and, if given, the token obtained for the job's identity, or else the API key. */
export function engineEnvironment(
  apiKey: string,
  exchanged?: { readonly variable: string; readonly token: string },
): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => handed.test(name)))
  if (exchanged !== undefined) return { ...env, [exchanged.variable]: exchanged.token }
  return apiKey === '' ? env : { ...env, OPENAI_API_KEY: apiKey, ANTHROPIC_API_KEY: apiKey }
}

/** Runs `agent exec` and collects its events. Its standard error is written to the log, but the runner doesn't interpret it as commands. */
export async function runEngine(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly prompt: string },
): Promise<Outcome> {
  const log = stopCommands()
  const child = spawn(process.execPath, [program, ...args], { cwd: options.cwd, env: options.env, stdio: 'pipe' })
  const pass = (signal: NodeJS.Signals) => () => void child.kill(signal)
  const [onInterrupt, onTerminate] = [pass('SIGINT'), pass('SIGTERM')]
  process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate)
  let events = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (events += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => process.stdout.write(text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.prompt)
  const exitCode = await new Promise<number>((resolve) => {
    child.on('error', () => resolve(1))
    child.on('close', (code) => resolve(code ?? 1))
  })
  process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate)
  log.end()
  return { exitCode, events, ...read(events) }
}

function read(text: string): Pick<Outcome, 'ending' | 'sessionId' | 'finalMessage'> {
  let ending: Ending | undefined
  let sessionId = ''
  let finalMessage = ''
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const event = JSON.parse(line) as Ending & {
      thread_id?: string
      item?: { type: string; text?: string; agent_id?: string }
    }
    if (event.type === 'thread.started') sessionId = event.thread_id ?? ''
    if (event.type === 'turn.completed' || event.type === 'turn.failed') ending = event
    const { item } = event
    if (event.type === 'item.completed' && item?.type === 'agent_message' && item.agent_id === undefined)
      finalMessage = item.text ?? ''
  }
  return { ending, sessionId, finalMessage }
}

/** Runs a command of the engine other than `agent exec`, and waits until it exits. The result includes its standard error. */
export function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
}

/**
 * Shows the findings of a review next to the lines that they are about. The engine itself formats each finding as a command for the runner, so that a
 * model's text can't end the command and begin another. The engine's line about a failed run is left out, because this action reports the failure
 * itself.
 */
export function annotate(events: string): void {
  const { stdout, stderr } = runProgram(['report', events, '--format', 'annotations'], engineEnvironment(''))
  process.stderr.write(stderr)
  const lines = stdout.split('\n').filter((line) => !line.startsWith('::error title=agent exec::'))
  process.stdout.write(lines.join('\n'))
}
