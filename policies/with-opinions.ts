import type { Assessment } from './assessment.ts'

/** Opinions about an action that come from outside the Guardian. */
export type OthersOpinions = {
  /**
   * Set for the user's own command. Such a command needs no approval, but what rules and permissions forbid stays forbidden. The value names the source, for
   * the record. Absent: the command is not the user's.
   */
  readonly byUser?: string
  /**
   * A hook's decision. `ask` asks the reviewer even if everything else allows the action. `allow` answers only what the approval mode would ask about; it
   * overrides no rule, permission or alarm.
   */
  readonly hook?: {
    readonly decision: 'ask' | 'allow'
    readonly reason: string
    /** The name of the source of the hook's decision, for the audit record. Default: `hook`. */
    readonly by?: string
  }
}

/** Combines an assessment with a hook's decision, and takes into account whether the command is the user's own. What is forbidden is never allowed. */
export function withOpinions(assessment: Assessment, { hook, byUser: stage }: OthersOpinions): Assessment {
  return byUser(withHook(assessment, hook), stage)
}

function withHook(assessment: Assessment, hook: OthersOpinions['hook']): Assessment {
  if (hook === undefined || assessment.decision === 'deny') return assessment
  const { analysis } = assessment
  const { by: stage = 'hook', ...opinion } = hook
  const said = { ...opinion, stage, analysis }
  if (hook.decision === 'ask') return assessment.decision === 'ask' ? assessment : said
  const alarmed = analysis?.commands.some(({ alarms }) => alarms.length > 0) === true
  const onlyTheMode = assessment.stage === 'mode' || (assessment.stage === 'analysis' && !alarmed)
  return assessment.decision === 'ask' && onlyTheMode ? said : assessment
}

/** Allows the user's own command if somebody would be asked about it, since the question would only go back to the user. */
function byUser(assessment: Assessment, stage: string | undefined): Assessment {
  if (stage === undefined || assessment.decision !== 'ask') return assessment
  return { decision: 'allow', stage, reason: 'The user wants this command to run.', analysis: assessment.analysis }
}
