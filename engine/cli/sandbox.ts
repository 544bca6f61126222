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
import type { Settings } from '../config/schema.ts'
import { exitCodes } from '../exit-codes.ts'
import { remedyAsFlags } from '../remedies.ts'
import { circumstancesOf, describeDanger, withheldBy } from '../run/circumstances.ts'
import { UserError } from '../user-error.ts'
import { finishReviewsFirst } from './finish-reviews.ts'
import { catchInterrupts } from './interrupts.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import { dockerByFlags, explainNoSandbox } from './no-sandbox.ts'
import { readSandboxConfig } from './sandbox-config.ts'
import { policyFromOptions } from './sandbox-policy.ts'
import { findWorkspace } from './workspace.ts'

/** What shells and env(1) return for a program that isn't there. */
const commandNotFound = 127

/**
 * `agent sandbox`: runs one command confined. Its standard streams and its exit code pass through.
 *
 * @returns the command's exit code; 128 + n where signal n ended it, as shells report it; 124 after a timeout, as timeout(1)
 */
export async function runSandbox(command: readonly string[], options: SandboxOptions): Promise<number> {
  const [program, ...words] = command
  if (program === undefined)
    throw new UserError('usage', 'agent sandbox: no command. Put it after --, e.g. agent sandbox -- npm test')
  const workspace = findWorkspace(options.cd)
  await finishReviewsFirst()
  const config = await readSandboxConfig(workspace, options.config)
  const policy = policyFromOptions(options, config, workspace)
  const { signal, dispose } = catchInterrupts()
  try {
    const sandbox = await openSandbox(policy, {
      backend: backendFor(options, config, policy),
      image: options.image ?? config.sandbox_image,
    })
    try {
      const child = sandbox.spawn({ argv: [program, ...words], cwd: workspace, stdin: 'inherit', signal })
      const result = options.json === true ? await report(child, sandbox) : await passThrough(child, sandbox)
      return exitCodeOf(result, signal)
    } finally {
      await sandbox.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    if (error.code === 'missing-program') {
      process.stderr.write(`agent sandbox: ${error.message}\n`)
      return commandNotFound
    }
    if (!SandboxError.is(error, 'unavailable')) throw new UserError('usage', error.message, { cause: error })
    throw new UserError('sandboxUnavailable', await explainNoSandbox(error, dockerByFlags), { cause: error })
  } finally {
    dispose()
  }
}

/** What the flags say, else the configuration, which has no say where nothing is confined. */
function backendFor(options: SandboxOptions, config: Settings, policy: SandboxPolicy): Backend | undefined {
  if (options.externallySandboxed === true) return 'external'
  return options.backend ?? (policy.mode === 'danger-full-access' ? undefined : config.sandbox_backend)
}

/** Hands the command's output on as it comes, and says at the end what was refused. */
async function passThrough(child: SandboxProcess, sandbox: Sandbox): Promise<ExecResult> {
  const ended = [
    pipeline(child.stdout, process.stdout, { end: false }),
    pipeline(child.stderr, process.stderr, { end: false }),
  ]
  const result = await child.result
  await Promise.allSettled(ended)
  for (const danger of circumstancesOf(sandbox).dangers ?? [])
    process.stderr.write(`agent sandbox: dangerous: ${describeDanger(danger)}\n`)
  for (const denial of result.denials) process.stderr.write(`agent sandbox: ${renderDenial(denial, remedyAsFlags)}\n`)
  return result
}

/** Prints one JSON object when the command has ended: its output as text, how it ended, and what was refused. */
async function report(child: SandboxProcess, sandbox: Sandbox): Promise<ExecResult> {
  const [stdout, stderr, result] = await Promise.all([text(child.stdout), text(child.stderr), child.result])
  const denials = result.denials.map((denial) => ({ ...denial, howToAllow: remedyAsFlags(denial.remedy) }))
  const { dangers } = circumstancesOf(sandbox)
  const about = { backend: sandbox.backend, dangers, environmentWithheld: withheldBy(sandbox) }
  process.stdout.write(`${JSON.stringify({ ...about, ...result, denials, stdout, stderr })}\n`)
  return result
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
