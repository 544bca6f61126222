import type { Settings } from '../config/settings-schema.ts'
import { UserError } from '../core/user-error.ts'
import { defaultAttempts, parseReport, type JudgeSettings, type Verification } from '../core/verification-settings.ts'
import type { ReadRollout } from '../session/rollout.ts'
import type { RequestedSettings } from './load-settings.ts'
import type { RunRequest } from './run-request.ts'

/** Merges the request's `--verify` and `--verify-attempts` into the configuration, so that the machine's owner can also enforce values for these settings. */
export function withVerification({ settings = {}, verify }: RunRequest): RequestedSettings {
  const { commands, attempts } = verify ?? {}
  const said: readonly (readonly [string, Settings | undefined])[] = [
    ['--verify', commands && { verify: [...commands] }],
    ['--verify-attempts', attempts === undefined ? undefined : { verify_attempts: attempts }],
  ]
  const flags = said.flatMap(([flag, set]) => (set === undefined ? [] : [{ flag, settings: set }]))
  return flags.length === 0 ? settings : { ...settings, flags: [...(settings.flags ?? []), ...flags] }
}

/**
 * Returns how the result of a run is verified: as the request says, otherwise as stored in the session that the run resumes, otherwise as configured.
 *
 * @returns undefined if the result isn't verified
 * @throws UserError `usage` if a command is blank, or if the number of attempts is unlimited without a budget, or is given without commands
 */
export function chooseVerification(
  { verify: asked, budget = {} }: Pick<RunRequest, 'verify' | 'budget'>,
  settings: Settings,
  earlier: Pick<ReadRollout, 'verify'> | undefined,
): Verification | undefined {
  const before = earlier?.verify
  const red = asked?.red ?? (asked?.commands === undefined ? before?.red : undefined) ?? []
  const chosen = (asked?.commands === undefined ? before?.commands : undefined) ?? settings.verify ?? []
  const commands = [...new Set([...chosen, ...red])]
  const attempts =
    (asked?.attempts === undefined ? before?.attempts : undefined) ?? settings.verify_attempts ?? defaultAttempts
  if (commands.some((command) => command.trim() === '')) {
    throw new UserError(
      'usage',
      'verify: a command is blank, as the value of an unset variable is. It would pass without checking anything: name a command, or leave it out.',
    )
  }
  if (commands.length === 0) {
    if (asked?.allowTestChanges === true || asked?.allowWeakening !== undefined) {
      throw new UserError(
        'usage',
        '--allow-test-changes and --allow-weakening say what --verify may accept, so they need --verify: add that, or leave them out.',
      )
    }
    if (asked?.attempts === undefined) return undefined
    throw new UserError(
      'usage',
      '--verify-attempts limits how many times --verify may fail, so it needs --verify: add that, or leave out --verify-attempts.',
    )
  }
  if (attempts === 0 && Object.values(budget).every((limit) => limit === undefined)) {
    throw new UserError(
      'usage',
      '--verify-attempts 0 lets the model try until a budget is used up, but no budget is set: add --max-turns, --max-tokens, --max-cost or --timeout.',
    )
  }
  return { commands, attempts, red }
}

/** Returns how changes are judged: what belongs to the judge as configured, and what it may accept as the request says. */
export function judgeSettings({ verify = {} }: Pick<RunRequest, 'verify'>, settings: Settings): JudgeSettings {
  const { verify_report: report, verify_protect: protect = [] } = settings
  return {
    report: report === undefined ? undefined : parseReport(report),
    protect,
    allowTestChanges: verify.allowTestChanges === true,
    allowWeakening: verify.allowWeakening ?? [],
  }
}
