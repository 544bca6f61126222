import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../../core/user-error.ts'
import { defaultAttempts, type Verification } from '../../core/verification-settings.ts'
import { assessor } from '../../core/assessor.ts'
import { verificationAction } from '../../tools/run-verification.ts'
import type { Feature } from '../feature.ts'

const landed =
  '--verify uses the tests and the configuration that the run leaves behind: with --land each, changes land before they could be compared with anything.'

const unjudged =
  '--verify uses the tests and the configuration that the run leaves behind: without a view, there is nothing to compare them with, so a run that removes a failing test passes.'

/**
 * Prepares the verification, which runs commands that must succeed when the model is done: the session remembers these commands, and if a rule
 * forbids one of them, the run fails before a model is asked.
 */
export const verifyFeature: Feature = {
  name: 'verify',
  open: async (context) => {
    const { verify, session, beginning, approvalMode, policies, began, transaction } = context
    const before: Verification | undefined = beginning.resumedFrom?.verify && {
      commands: beginning.resumedFrom.verify.commands,
      attempts: beginning.resumedFrom.verify.attempts,
      red: beginning.resumedFrom.verify.red,
    }
    const now: Verification = verify ?? { commands: [], attempts: before?.attempts ?? defaultAttempts, red: [] }
    if (before === undefined ? verify !== undefined : !isDeepStrictEqual(before, now)) {
      session.rollout.append({ type: 'verify', commands: [...now.commands], attempts: now.attempts, red: [...now.red] })
    }
    const { rules, permissions } = policies
    const assess = assessor({ approvalMode, rules, permissions })
    for (const command of now.commands) {
      const { decision, reason, rule } = assess(verificationAction(command, began))
      if (decision !== 'deny') continue
      const named = rule === undefined ? '' : ` Rule: ${rule}.`
      throw new UserError(
        'usage',
        `--verify can't run \`${command}\`: ${reason}${named} Change the command or the rule.`,
      )
    }
    if (now.commands.length === 0) return {}
    const why = transaction === undefined ? unjudged : transaction.wish.land === 'each' ? landed : undefined
    if (why !== undefined && now.red.length > 0) throw new UserError('usage', `--verify-red can't be kept here. ${why}`)
    if (transaction === undefined || why !== undefined) return { notices: why === undefined ? [] : [why] }
    // Few runs verify anything, so the others don't load what judges them.
    const { openJudge } = await import('../open-judge.ts')
    return { options: { judge: openJudge(context, transaction) } }
  },
}
