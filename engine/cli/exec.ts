import { delimiter, isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import {
  createGuardian,
  nobody,
  openAuditLog,
  type ApprovalMode,
  type Guardian,
  type RuleSet,
} from '../../policies/index.ts'
import {
  openSandbox,
  parsePolicy,
  SandboxError,
  type Sandbox,
  type SandboxPolicy,
  type SandboxPolicyInput,
} from '../../sandbox/index.ts'
import { loadConfig } from '../config/load.ts'
import { defaultApproval, defaultModel, defaultSandbox, type ConfigFile } from '../config/schema.ts'
import { jsonlSink } from '../display/jsonl.ts'
import { liveSink } from '../display/live.ts'
import { plainSink } from '../display/plain.ts'
import type { Sink } from '../events.ts'
import { ModelError, type Model } from '../model.ts'
import { openModel, recordModel } from '../models/index.ts'
import { readMemory } from '../memory/read-memory.ts'
import { renderMemory } from '../memory/render-memory.ts'
import { findPlaces } from '../places.ts'
import { readRules } from '../read-rules.ts'
import { environmentContext, instructions } from '../run/instructions.ts'
import { run } from '../run/run.ts'
import { prepareStart, type Start } from '../session/start.ts'
import type { Session } from '../session/session.ts'
import { builtInTools } from '../tools/index.ts'
import { UserError } from '../user-error.ts'
import { catchInterrupts } from './interrupts.ts'
import { checkOutputFile, writeOutputFile } from './output-file.ts'
import type { ExecOptions } from './declare/exec.ts'
import { readPrompt } from './read-prompt.ts'
import { showContext } from './show-context.ts'
import { findRepository, findWorkspace, requireRepository } from './workspace.ts'

/**
 * `agent exec`: checks everything that can be wrong before the first request, then runs.
 *
 * @returns the exit code
 * @throws UserError for what the user has to mend; nothing was run then
 */
export async function runExec(argument: string | undefined, options: ExecOptions, start: Start): Promise<number> {
  const places = findPlaces(process.env)
  const workspace = findWorkspace(options.cd)
  const config = loadConfig(places.config, options.config)
  if (options.skipGitRepoCheck !== true) requireRepository(workspace)
  if (options.outputLastMessage !== undefined) checkOutputFile(options.outputLastMessage)
  const memory = readMemory({ user: places.config, root: findRepository(workspace) ?? workspace, workspace })
  if (options.showContext === true) return showContext(memory)
  const prompt = await readPrompt(argument, process.stdin)
  const approvalPolicy = approvalModeOf(options, config)
  const rules = readRules(places)
  const beginning = prepareStart(start, places.state, workspace, options.ephemeral === true)
  const model = await chooseModel(options, config, workspace, beginning.earlier?.model)
  const { signal, dispose } = catchInterrupts()
  const sandbox = await confine(options, config, workspace)
  const session = beginning.open(workspace)
  try {
    const guardian = guard(session, rules, approvalPolicy, sandbox)
    const summary = await run({
      model,
      tools: builtInTools,
      sandbox,
      guardian,
      session,
      workspace,
      instructions,
      context: [
        environmentContext({
          workspace,
          sandboxMode: sandbox.policy.mode,
          network: networkOf(sandbox),
          approvalPolicy,
        }),
        ...renderMemory(memory),
      ],
      prompt,
      ...(beginning.earlier === undefined ? {} : { earlier: beginning.earlier.history }),
      approvalPolicy,
      reasoningEffort: config.model_reasoning_effort,
      sinks: chooseSinks(options),
      budget: {
        maxTurns: options.maxTurns,
        maxTokens: options.maxTokens,
        timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
      },
      failOnDenied: options.failOnDenied === true,
      signal,
    })
    if (options.json !== true && !shownAlready()) process.stdout.write(asLines(summary.finalMessage))
    if (options.outputLastMessage !== undefined) writeOutputFile(options.outputLastMessage, summary.finalMessage)
    return summary.exitCode
  } finally {
    await sandbox.close()
    session.close()
    dispose()
  }
}

function approvalModeOf(options: ExecOptions, config: ConfigFile): ApprovalMode {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'bypass'
  if (options.fullAuto === true) return 'on-request'
  return options.askForApproval ?? config.approval_policy ?? defaultApproval
}

function sandboxModeOf(options: ExecOptions, config: ConfigFile): SandboxPolicy['mode'] {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'danger-full-access'
  if (options.fullAuto === true) return 'workspace-write'
  return options.sandbox ?? config.sandbox_mode ?? defaultSandbox
}

/** @param before the model that a resumed session was run with */
async function chooseModel(
  options: ExecOptions,
  config: ConfigFile,
  workspace: string,
  before: string | undefined,
): Promise<Model> {
  const name = options.model ?? before ?? config.model ?? defaultModel
  try {
    const model = await openModel(fromHere(name), {
      env: process.env,
      cwd: workspace,
      openaiBaseUrl: config.openai_base_url,
      modelProvider: config.model_provider,
      modelProviders: config.model_providers,
      fallbackModels: config.fallback_models,
    })
    return options.record === undefined ? model : await recordModel(model, resolve(options.record), workspace)
  } catch (error) {
    if (error instanceof ModelError) throw new UserError('usage', error.message, { cause: error })
    throw error
  }
}

/** A recording is named from where the user stands, not from the workspace that `-C` may name. */
function fromHere(model: string): string {
  const file = /^replay:(?<file>.+)$/s.exec(model)?.groups?.['file']
  return file === undefined ? model : `replay:${resolve(file)}`
}

/** The sandbox for the whole run, opened before the first request: a policy that can't be enforced stops it here. */
async function confine(options: ExecOptions, config: ConfigFile, workspace: string): Promise<Sandbox> {
  try {
    return await openSandbox(
      parsePolicy({
        mode: sandboxModeOf(options, config),
        workspace,
        writableRoots: config.sandbox_workspace_write?.writable_roots ?? [],
        network: networkPolicy(config),
        environment: {
          inherit: config.shell_environment_policy?.inherit,
          exclude: config.shell_environment_policy?.exclude,
          includeOnly: config.shell_environment_policy?.include_only,
          set: { ...trustedPath(options, config, workspace), ...config.shell_environment_policy?.set },
        },
      }),
    )
  } catch (error) {
    if (error instanceof SandboxError) {
      const reason = error.code === 'unavailable' ? 'sandboxUnavailable' : 'usage'
      throw new UserError(reason, error.message, { cause: error })
    }
    throw error
  }
}

function networkPolicy({ sandbox_workspace_write: table }: ConfigFile): SandboxPolicyInput['network'] {
  if (table?.allowed_hosts !== undefined) return { mode: 'allowlist', allow: table.allowed_hosts }
  return { mode: table?.network_access === true ? 'full' : 'off' }
}

/**
 * Where commands are looked for. In `untrusted`, what a bare name runs must not be up to the repository: a folder of the
 * workspace on the path could hold its own `ls`.
 */
function trustedPath(options: ExecOptions, config: ConfigFile, workspace: string): Readonly<Record<string, string>> {
  if (approvalModeOf(options, config) !== 'untrusted') return {}
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const trusted = folders.filter((folder) => isAbsolute(folder) && !`${resolve(folder)}/`.startsWith(`${workspace}/`))
  return { PATH: trusted.join(delimiter) }
}

function guard(session: Session, rules: RuleSet, approvalMode: ApprovalMode, sandbox: Sandbox): Guardian {
  const audit = openAuditLog(join(session.directory, 'audit.jsonl'))
  return createGuardian({ approvalMode, rules, reviewer: nobody, audit, writableRoots: sandbox.policy.writableRoots })
}

function networkOf(sandbox: Sandbox): string {
  return sandbox.policy.mode === 'danger-full-access' ? 'full' : sandbox.policy.network.mode
}

/** Events on stdout for `--json`; what a person reads on stderr, unless both would land on one terminal. */
function chooseSinks(options: ExecOptions): readonly Sink[] {
  const { stdout, stderr } = process
  const json = jsonlSink((line) => stdout.write(line))
  if (options.json === true && stdout.isTTY) return [json]
  const colour = stderr.isTTY && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
  const person = stderr.isTTY ? liveSink(stderr, colour) : plainSink((text) => stderr.write(text), colour)
  return options.json === true ? [json, person] : [person]
}

/** Whether a person has read the final message on the very terminal that standard output goes to. */
function shownAlready(): boolean {
  return process.stdout.isTTY && process.stderr.isTTY
}

/** A message as it is printed: ended by a line feed where it is not empty. */
function asLines(message: string): string {
  return message === '' || message.endsWith('\n') ? message : `${message}\n`
}
