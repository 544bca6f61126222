import process from 'node:process'
import type { RequestedSettings } from '../app/load-settings.ts'
import { externalMode } from '../app/modes.ts'
import type { RunRequest } from '../app/run-request.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { ConfigFile, type Settings } from '../config/settings-schema.ts'
import { validate } from '../config/validate.ts'
import { UserError } from '../core/user-error.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { AgentOptions } from './agent-options.ts'
import { ownModel } from './own-model.ts'

/**
 * Builds the part of the request that all runs of an agent share.
 *
 * @throws UserError `usage` if the workspace is missing, or in no git repository without `skipGitRepoCheck`; and for settings that are invalid
 *   or contradict each other
 */
export function agentRequest(options: AgentOptions, output: OutputSchema | undefined): Omit<RunRequest, 'task'> {
  const { model, tools, reviewer, budget, resume, sinks, verify, verifyAttempts, environment = process.env } = options
  const workspace = findWorkspace(options.workspace, 'workspace')
  if (options.skipGitRepoCheck !== true && findRepository(workspace) === undefined) {
    throw new UserError(
      'usage',
      `${workspace} is not in a git repository, so changes that a run makes there could not be undone. ` +
        'Run git init first, or pass skipGitRepoCheck: true.',
    )
  }
  return {
    workspace,
    environment,
    settings: requestedSettings(options),
    outsideRepository: true,
    ephemeral: options.ephemeral === true,
    failOnDenied: options.failOnDenied === true,
    externallySandboxed: options.externallySandboxed === true,
    ...(typeof model === 'object' ? { model: ownModel(model) } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(reviewer === undefined ? {} : { reviewing: { by: { kind: 'function', review: reviewer } } }),
    ...(resume === undefined ? {} : { start: { type: 'resume', id: resume === 'last' ? undefined : resume } }),
    ...(output === undefined ? {} : { output }),
    ...(budget === undefined ? {} : { budget }),
    ...(verify === undefined && verifyAttempts === undefined
      ? {}
      : {
          verify: {
            ...(verify === undefined ? {} : { commands: verify }),
            ...(verifyAttempts === undefined ? {} : { attempts: verifyAttempts }),
          },
        }),
    ...(sinks === undefined ? {} : { sinks }),
  }
}

/** Collects the configuration that the caller's options ask for. Messages refer to an option by the name that the caller used. */
function requestedSettings(options: AgentOptions): RequestedSettings {
  const { model, sandbox, settings, reviewer, externallySandboxed, profile, trust } = options
  const checked = settings === undefined ? undefined : validate(ConfigFile, settings, { name: 'settings' })
  if (reviewer !== undefined && checked?.approval_policy === 'never') {
    throw new UserError(
      'usage',
      "With settings.approval_policy 'never', nobody is ever asked, so the reviewer would have nothing to decide: remove one of the two.",
    )
  }
  const said: readonly (readonly [string, Settings | undefined])[] = [
    ['reviewer', reviewer === undefined ? undefined : { approval_policy: 'on-request' }],
    ['settings', checked],
    ['model', typeof model === 'string' ? { model } : undefined],
    ['sandbox', sandbox === undefined ? undefined : { sandbox_mode: sandbox }],
    ['externallySandboxed', externallySandboxed === true ? { sandbox_mode: externalMode(sandbox) } : undefined],
  ]
  return {
    ...(profile === undefined ? {} : { profile }),
    trust: trust === true,
    flags: said.flatMap(([flag, set]) => (set === undefined ? [] : [{ flag, settings: set }])),
  }
}
