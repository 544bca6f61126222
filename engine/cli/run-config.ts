import { resolve } from 'node:path'
import { loadSettings, type RequestedSettings } from '../app/load-settings.ts'
import { externalMode } from '../app/modes.ts'
import type { Config } from '../config/load-config.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'
import type { ConfigOptions } from './declare/config-options.ts'

/**
 * The configuration of a run in a workspace. Command-line options override the configured values.
 *
 * @throws UserError `usage` for any error in the configuration
 */
export function loadRunConfig(options: ConfigOptions, workspace: string, places: AppPaths): Config {
  return loadSettings(requestedSettings(options), workspace, places)
}

/**
 * Turns the options of a command line into the settings that they ask for.
 *
 * @throws UserError `usage` for options that contradict each other
 */
export function requestedSettings(options: ConfigOptions): RequestedSettings {
  if (options.isolated === true && (options.trust === true || options.profile !== undefined)) {
    throw new UserError(
      'usage',
      `--isolated ignores your configuration files and the repository's, but ${options.trust === true ? '--trust' : '--profile'} needs them: leave out one of the two options.`,
    )
  }
  return {
    profile: options.profile,
    trust: options.trust === true,
    isolated: options.isolated === true,
    overrides: options.config,
    addDirs: (options.addDir ?? []).map((directory) => resolve(directory)),
    reads: (options.allowRead ?? []).map((path) => resolve(path)),
    services: options.service ?? [],
    credentials: options.credential ?? [],
    flags: flagsOf(options),
  }
}

/**
 * Adds the approval policy `on-request` to the settings for a reviewer that the command line names, because with the default policy, `never`, the
 * Guardian wouldn't ask the reviewer.
 */
function asking(reviewer: Settings): Settings {
  return { ...reviewer, approval_policy: 'on-request' }
}

/**
 * The settings that the flags on the command line ask for. A later entry of the list overrides an earlier one.
 *
 * @throws UserError `usage` if a reviewer is named but would never be asked
 */
function flagsOf(options: ConfigOptions): readonly { readonly flag: string; readonly settings: Settings }[] {
  const { model, sandbox, askForApproval, approvalProgram } = options
  if ((options.approveForMe === true || approvalProgram !== undefined) && askForApproval === 'never') {
    throw new UserError(
      'usage',
      'With --ask-for-approval never, nobody is asked, so the named reviewer would have nothing to do: leave out one of the two options.',
    )
  }
  const said: readonly (readonly [string, Settings | undefined])[] = [
    ['--model', model === undefined ? undefined : { model }],
    ['--sandbox', sandbox === undefined ? undefined : { sandbox_mode: sandbox }],
    ['--open-home', options.openHome === true ? { sandbox_read: { home: 'open' } } : undefined],
    ['--search', options.search === true ? { web_search: 'live' } : undefined],
    ['--approve-for-me', options.approveForMe === true ? asking({ approvals_reviewer: 'model' }) : undefined],
    [
      '--approval-program',
      approvalProgram === undefined
        ? undefined
        : asking({ approvals_reviewer: 'program', approval_program: ['/bin/sh', '-c', approvalProgram] }),
    ],
    ['--ask-for-approval', askForApproval === undefined ? undefined : { approval_policy: askForApproval }],
    [
      '--externally-sandboxed',
      options.externallySandboxed === true ? { sandbox_mode: externalMode(sandbox) } : undefined,
    ],
    [
      '--dangerously-mount-docker-socket',
      options.dangerouslyMountDockerSocket === true ? { dangerously_mount_docker_socket: true } : undefined,
    ],
    [
      '--full-auto',
      options.fullAuto === true ? { sandbox_mode: 'workspace-write', approval_policy: 'on-request' } : undefined,
    ],
    [
      '--dangerously-bypass-approvals-and-sandbox',
      options.dangerouslyBypassApprovalsAndSandbox === true
        ? { sandbox_mode: 'danger-full-access', approval_policy: 'bypass' }
        : undefined,
    ],
  ]
  return said.flatMap(([flag, settings]) => (settings === undefined ? [] : [{ flag, settings }]))
}
