import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { constants } from 'node:os'
import process from 'node:process'
import {
  openSandbox,
  renderDenial,
  SandboxError,
  type Backend,
  type ExecResult,
  type Sandbox,
  type SandboxPolicy,
  type SandboxProcess,
} from '../../sandbox/index.ts'
import { noCredentials, type OpenCredentials } from '../config/no-credentials.ts'
import type { Settings } from '../config/settings-schema.ts'
import { trustMoreOf } from '../core/certificates.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { remedyAsFlags } from '../core/remedies.ts'
import { sandboxStatusOf, describeDanger, withheldBy } from '../core/sandbox-status.ts'
import { UserError } from '../core/user-error.ts'
import { catchInterrupts } from './interrupts.ts'
import type { Commanded, CommandLanding, SandboxOptions } from './sandbox-options.ts'
import { dockerByFlags, explainNoSandbox } from '../app/no-sandbox.ts'
import { readSandboxConfig } from './sandbox-config.ts'
import { policyFromOptions, type ShownViews } from './policy-from-options.ts'
import { findWorkspace } from '../app/workspace.ts'
import { printJson, tell, tellMessage, rawOutput } from './print.ts'

/** The exit code that shells report for a program that SIGPIPE killed, because the reader of its output was gone. */
const brokenPipe = 141

/** The exit code of shells and env(1) for a missing program. */
const commandNotFound = 127

/** The command of this program that starts a command in a sandbox, and what it shows to it. */
type CommandPlace = {
  readonly name: string
  /** Default: none. */
  readonly shown?: ShownViews
  /** What the command isn't shown, in words. Default: nothing. */
  readonly notShown?: string | undefined
  /** Lands what the command changed in the views. Default: it stays there. */
  readonly land?: Land
  /** What to say if a second signal ends the program at once. Default: nothing. */
  readonly abandoned?: string
}

/** Called when the command has ended. `isDone`: whether it succeeded. */
type Land = (sandbox: Sandbox, isDone: boolean, signal: AbortSignal) => Promise<CommandLanding>

/**
 * `agent sandbox`: runs one command in a sandbox. If it may write, it works on a private view of the workspace, from which its changes land. The command's standard streams and its exit code are passed through; with `--json`, its output
 * becomes part of a JSON object instead.
 *
 * @returns the command's exit code; 128 + n if signal n killed it, and 127 if there is no such program, as in shells; 124 after a timeout, as in
 *   timeout(1); 141 if the reader of its output went away; 130 or 143 if this process was interrupted or terminated; 1 if only the landing failed
 */
export async function runSandbox(
  command: readonly string[],
  options: SandboxOptions,
  place: CommandPlace = { name: 'agent sandbox' },
): Promise<number> {
  const { name, shown } = place
  const [program, ...words] = command
  if (program === undefined)
    throw new UserError('usage', `${name}: no command given; put it after --, e.g. ${name} -- npm test`)
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const config = await readSandboxConfig(workspace, options.config, options.credential)
  const commanded: Commanded = { argv: [program, ...words], options, config, workspace }
  if (shown !== undefined) return confine(commanded, place)
  const { commandOnView } = await import('./command-on-view.ts')
  return commandOnView(commanded, (onView) => confine(commanded, { ...place, ...onView }))
}

/** The credentials of the command. Their code is loaded only if there are any. */
async function credentialsFor(config: Settings, workspace: string): Promise<OpenCredentials> {
  if (config.credentials === undefined) return noCredentials
  const { openCredentials } = await import('../config/credentials.ts')
  return openCredentials(config, process.env, workspace)
}

/** Runs the command in its sandbox, and lands what it changed in the views that it was shown. */
async function confine(
  { argv, options, config, workspace }: Commanded,
  { name, shown, notShown, land, abandoned }: CommandPlace,
): Promise<number> {
  const credentials = await credentialsFor(config, workspace)
  const policy = policyFromOptions(options, config, workspace, shown, credentials)
  const ending = new AbortController()
  const { signal } = ending
  let isStarted = false
  const dispose = catchInterrupts(
    (reason) => ending.abort(reason),
    () => isStarted && abandoned !== undefined && tell(`${name}: ${abandoned}`),
  )
  try {
    const sandbox = await openSandbox(policy, {
      backend: backendFor(options, config, policy),
      image: options.image ?? config.sandbox_image,
      network: { secretOf: credentials.secretOf, trustMore: trustMoreOf(process.env) },
    })
    try {
      const child = sandbox.spawn({ argv, cwd: workspace, stdin: 'inherit', signal })
      isStarted = true
      const landed = (result: ExecResult): Promise<CommandLanding> | undefined =>
        land?.(sandbox, exitCodeOf(result, signal) === exitCodes.done, signal)
      if (options.json === true) {
        const { result, landing } = await report(child, sandbox, landed)
        return exitCodeOf(result, signal) || (landing?.code ?? exitCodes.done)
      }
      const { result, lost } = await passThrough(child, sandbox, name)
      const landing = await landed(result)
      if (notShown !== undefined && exitCodeOf(result, signal) !== exitCodes.done) tell(`${name}: ${notShown}`)
      for (const line of landing?.lines ?? []) tell(`${name}: ${line.trimStart()}`)
      if (lost === undefined) return exitCodeOf(result, signal) || (landing?.code ?? exitCodes.done)
      if (lost.code === 'EPIPE') return brokenPipe
      throw new UserError('failed', `Standard output can't be written: ${lost.message}.`, { cause: lost })
    } finally {
      await sandbox.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    if (error.code === 'missing-program') {
      tellMessage(name, error.message)
      return commandNotFound
    }
    if (SandboxError.is(error, 'path-changed')) {
      throw new UserError('sandboxUnavailable', error.message, { cause: error })
    }
    if (!SandboxError.is(error, 'unavailable')) throw new UserError('usage', error.message, { cause: error })
    throw new UserError('sandboxUnavailable', await explainNoSandbox(error, dockerByFlags), { cause: error })
  } finally {
    dispose()
  }
}

/**
 * The backend that the flags name, or else the configured one. In the mode `danger-full-access`, the configured one is not used, because that mode confines
 * nothing.
 */
function backendFor(options: SandboxOptions, config: Settings, policy: SandboxPolicy): Backend | undefined {
  if (options.externallySandboxed === true) return 'external'
  return options.backend ?? (policy.mode === 'danger-full-access' ? undefined : config.sandbox_backend)
}

/**
 * Passes the command's output on as it arrives. Reports at the end what was denied, and whether the command could reach the docker daemon. If standard
 * output can't be written, the command is killed.
 *
 * @returns `lost`: the error if standard output can't be written; EPIPE if its reader is gone
 */
async function passThrough(
  child: SandboxProcess,
  sandbox: Sandbox,
  name: string,
): Promise<{ readonly result: ExecResult; readonly lost: NodeJS.ErrnoException | undefined }> {
  let lost: NodeJS.ErrnoException | undefined
  const ended = [
    pipeline(child.stdout, rawOutput.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
      lost = error
      child.kill()
    }),
    pipeline(child.stderr, rawOutput.stderr, { end: false }).catch(() => undefined),
  ]
  const result = await child.result
  await Promise.all(ended)
  for (const danger of sandboxStatusOf(sandbox).dangers ?? []) tell(`${name}: dangerous: ${describeDanger(danger)}`)
  for (const denial of result.denials) tell(`${name}: ${renderDenial(denial, remedyAsFlags)}`)
  return { result, lost }
}

/** When the command has ended, prints one JSON object: facts about the sandbox, the output as text, the command's outcome, and what was denied. */
async function report(
  child: SandboxProcess,
  sandbox: Sandbox,
  land: (result: ExecResult) => Promise<CommandLanding> | undefined,
): Promise<{ readonly result: ExecResult; readonly landing: CommandLanding | undefined }> {
  const [stdout, stderr, result] = await Promise.all([text(child.stdout), text(child.stderr), child.result])
  const denials = result.denials.map((denial) => ({ ...denial, howToAllow: remedyAsFlags(denial.remedy) }))
  const { dangers } = sandboxStatusOf(sandbox)
  const about = { backend: sandbox.backend, dangers, environmentWithheld: withheldBy(sandbox) }
  const landing = await land(result)
  printJson({ ...about, ...result, denials, stdout, stderr, ...(landing && { transaction: landing.report }) })
  return { result, landing }
}

function exitCodeOf(result: ExecResult, signal: AbortSignal): number {
  switch (result.status) {
    case 'exited':
      return result.code
    case 'signaled':
      return 128 + (constants.signals[result.signal as NodeJS.Signals] ?? 0)
    case 'timed-out':
      return 124
    case 'cancelled':
      return signal.reason === 'terminated' ? exitCodes.terminated : exitCodes.interrupted
    default:
      return result satisfies never
  }
}
