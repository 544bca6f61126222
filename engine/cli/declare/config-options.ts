import { InvalidArgumentError, Option, type Command } from 'commander'
import type { RequestedSettings } from '../../app/load-settings.ts'
import { another } from './option-values.ts'
import {
  allowRead,
  credential,
  externallySandboxed,
  isolated,
  mountDockerSocket,
  openHome,
  sandboxModes,
  service,
} from './shared-options.ts'

/** The options of a command line that configure a run, as parsed. The files that these options name are read later. */
export type ConfigOptions = {
  readonly model?: string
  readonly sandbox?: (typeof sandboxModes)[number]
  readonly cd?: string
  readonly addDir?: readonly string[]
  readonly allowRead?: readonly string[]
  readonly service?: readonly string[]
  readonly credential?: readonly string[]
  readonly openHome?: true
  readonly config: readonly string[]
  readonly profile?: string
  readonly trust?: true
  readonly isolated?: true
  readonly search?: true
  readonly askForApproval?: (typeof approvalChoices)[number]
  readonly fullAuto?: true
  readonly externallySandboxed?: true
  readonly dangerouslyMountDockerSocket?: true
  readonly approveForMe?: true
  readonly approvalProgram?: string
  readonly dangerouslyBypassApprovalsAndSandbox?: true
  /** Set if the command line is one for Codex. */
  readonly codex?: RequestedSettings['codex']
}

const approvalChoices = ['untrusted', 'on-failure', 'on-request', 'never'] as const

/** Declares the options that configure a run. */
export function configOptions(command: Command): Command {
  return command
    .option('-m, --model <model>', 'gpt-…, claude-…, PROVIDER/NAME, or replay:FILE for a recorded conversation')
    .addOption(
      new Option('-s, --sandbox <mode>', 'what commands may access (default: workspace-write)').choices(sandboxModes),
    )
    .option('-C, --cd <dir>', 'work in this directory')
    .addOption(
      new Option('-c, --config <key=value>', 'set a configuration key; may be repeated')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--ask-for-approval <when>',
        'when the Guardian asks for approval (default: never); if nobody can answer, the action is denied',
      ).choices(approvalChoices),
    )
    .option('--trust', "apply the repository's own configuration in this run")
    .option(...isolated)
    .optionsGroup('What commands may access:')
    .option('--add-dir <dir>', 'another directory that commands may write to; may be repeated', another)
    .option(...allowRead, another)
    .option(...service, another)
    .option(...credential, another)
    .option(...openHome)
    .addOption(new Option(...externallySandboxed).conflicts('fullAuto'))
    .option(...mountDockerSocket)
    .addOption(
      new Option(
        '--dangerously-bypass-approvals-and-sandbox',
        'use no sandbox, and allow everything that no rule or permission restricts. Meant for a machine that is itself a sandbox',
      ).conflicts(['sandbox', 'askForApproval', 'fullAuto']),
    )
    .optionsGroup('Who decides:')
    .addOption(
      new Option('--approve-for-me', 'let a model (reviewer_model) answer when the Guardian asks').conflicts([
        'approvalProgram',
        'dangerouslyBypassApprovalsAndSandbox',
      ]),
    )
    .addOption(
      new Option(
        '--approval-program <command>',
        'let a program answer when the Guardian asks: one JSON object per line on its standard input and output',
      ).conflicts(['dangerouslyBypassApprovalsAndSandbox']),
    )
    .addOption(
      new Option('--full-auto', 'the same as -s workspace-write --ask-for-approval on-request').conflicts([
        'sandbox',
        'askForApproval',
      ]),
    )
    .optionsGroup('Settings:')
    .option('-p, --profile <name>', 'use the settings of [profiles.NAME] in your configuration')
    .option('--search', 'let the model\'s provider search the web (web_search = "live")')
    .optionsGroup('')
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  if (!value.includes('=')) throw new InvalidArgumentError('expected key=value.')
  return [...earlier, value]
}
