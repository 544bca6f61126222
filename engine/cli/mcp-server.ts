import process from 'node:process'
import type { Guardian } from '../../policies/index.ts'
import { plainSink } from '../display/plain.ts'
import { exitCodes } from '../exit-codes.ts'
import { findHome, findPlaces } from '../places.ts'
import { readPolicies } from '../read-policies.ts'
import { noHooks } from '../run/hooks.ts'
import { circumstancesOf, describeDanger } from '../run/circumstances.ts'
import { Recorder } from '../run/recorder.ts'
import { prepareCall, runCall, type CallPath } from '../run/run-call.ts'
import { prepareStart } from '../session/start.ts'
import { builtInTools } from '../tools/index.ts'
import { createRegistry } from '../tools/registry.ts'
import { closeWorkingState, openWorkingState, type WorkingState } from '../tools/working-state.ts'
import type { ServedTool } from '../mcp/serve.ts'
import * as z from 'zod'
import { chooseReviewerModel, openNamed } from './choose-model.ts'
import { defaultModel } from '../config/defaults.ts'
import { chooseReviewer } from './choose-reviewer.ts'
import { confine } from './confine.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { finishReviewsFirst } from './finish-reviews.ts'
import { forbiddenHosts } from './forbidden-hosts.ts'
import { guard } from './guard.ts'
import { catchInterrupts } from './interrupts.ts'
import { approvalModeOf } from './modes.ts'
import { openReviewer } from './open-reviewer.ts'
import { loadRunConfig } from './run-config.ts'
import { servedRun } from './served-run.ts'
import { findRepository, findWorkspace } from './workspace.ts'

/**
 * `agent mcp-server`: offers what this program does to other agents, through the same Guardian and the same sandbox.
 *
 * @param words the options as they were typed, for the runs that are asked for
 * @returns the exit code
 * @throws UserError for what the user has to mend; nothing was run then
 */
export async function runMcpServer(options: ConfigOptions, words: readonly string[]): Promise<number> {
  const places = findPlaces(process.env)
  const workspace = findWorkspace(options.cd)
  await finishReviewsFirst()
  const config = loadRunConfig(options, workspace, places)
  const { settings } = config
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const policies = readPolicies({ places, home: findHome(process.env), project, config })
  const approvalMode = approvalModeOf(settings)
  // Standard input belongs to the protocol: nobody can type an answer there.
  const choice = chooseReviewer({ ...options, json: true }, settings, approvalMode)
  const review = await openReviewer(choice, {
    config: settings,
    places,
    openModel: async () =>
      chooseReviewerModel(await openNamed(settings.model ?? defaultModel, settings, workspace), settings, workspace),
  })
  const { signal, dispose } = catchInterrupts()
  const sandbox = await confine(settings, workspace, options.externallySandboxed === true, forbiddenHosts(policies))
  const session = prepareStart({ type: 'new' }, places.state, workspace).open(workspace, 'mcp-server')
  for (const danger of circumstancesOf(sandbox).dangers ?? [])
    process.stderr.write(`agent mcp-server: dangerous: ${describeDanger(danger)}\n`)
  let state: WorkingState | undefined
  try {
    const recorder = new Recorder([
      plainSink((text) => process.stderr.write(text), { colour: false, detail: 'normal' }),
    ])
    const makeGuardian = guard({
      session,
      rules: policies.rules,
      permissions: policies.permissions,
      approvalMode,
      sandbox,
      reviewer: review.reviewer,
    })
    const guardian: Guardian = makeGuardian({
      open: (item) => recorder.open(item),
      spend: (usage) => recorder.addUsage(usage),
      exhausted: () => undefined,
      within: (model) => model,
      // What another agent asks for is no person's leave.
      prompts: [],
      history: () => [],
    })
    state = openWorkingState(
      () => sandbox,
      (bytes) => session.keepOutput(bytes),
      process.env,
    )
    const path: CallPath = {
      registry: createRegistry({ builtIn: builtInTools }),
      hooks: noHooks,
      recorder,
      attended: false,
      context: {
        workspace,
        sandbox,
        guardian,
        state,
      },
    }
    const { serve } = await import('../mcp/serve.ts')
    const tools = [servedRun(words, workspace), shellTool(path), patchTool(path)]
    await serve(tools, { stdin: process.stdin, stdout: process.stdout, signal })
    return exitCodes.done
  } finally {
    review.close()
    if (state !== undefined) await closeWorkingState(state)
    await sandbox.close()
    session.close()
    dispose()
  }
}

function shellTool(path: CallPath): ServedTool {
  const input = z.object({
    command: z.string().min(1).describe('The command line, as the shell reads it.'),
    workdir: z.string().optional().describe('Directory to run in, relative to the workspace.'),
    timeout_ms: z.int().min(1).max(3_600_000).optional().describe('Milliseconds until it is killed. Default 120000.'),
  })
  return {
    name: 'sandboxed_shell',
    description: 'Runs a shell command in the workspace, inside a sandbox, and gives its output and exit code.',
    input,
    run: (given, signal) => {
      const { command, ...rest } = input.parse(given)
      return take(path, 'exec_command', { cmd: command, ...rest }, signal)
    },
  }
}

function patchTool(path: CallPath): ServedTool {
  const input = z.object({ patch: z.string().min(1).describe('From "*** Begin Patch" to "*** End Patch".') })
  return {
    name: 'apply_patch',
    description: 'Changes files in the workspace by a patch, all of it or nothing.',
    input,
    run: (given, signal) => take(path, 'apply_patch', { input: input.parse(given).patch }, signal),
  }
}

let taken = 0

/** Takes one call through the path that a model's calls take. */
async function take(
  path: CallPath,
  name: string,
  input: object,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const call = { id: `mcp-${++taken}`, name, kind: 'function' as const, input: JSON.stringify(input) }
  const { output, ok } = await runCall(prepareCall(call, path), path, { signal, alone: () => Promise.resolve() })
  return { text: output, ok }
}
