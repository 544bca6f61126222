import type { Assessment } from './assessment.ts'

/** What others said of an action before the Guardian is asked. */
export type OthersOpinions = {
  /**
   * The user's own words: nobody is asked about them, and what rules and permissions forbid stays forbidden. What is given is who said so, for the
   * record. Absent: somebody else's.
   */
  readonly byUser?: string
  /**
   * What a hook said. `ask` has the reviewer asked even where all else allows; `allow` answers what only the approval mode would
   * ask, and lifts no rule, permission or alarm.
   */
  readonly hook?: {
    readonly decision: 'ask' | 'allow'
    readonly reason: string
    /** Who says so, for the record. Default: `hook`. */
    readonly by?: string
  }
}

/** An assessment with what a hook said of it, and with what it counts that the user said the very words. Nothing that is forbidden is lifted. */
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

/** Whoever would be asked about the user's own words is the user. */
function byUser(assessment: Assessment, stage: string | undefined): Assessment {
  if (stage === undefined || assessment.decision !== 'ask') return assessment
  return { decision: 'allow', stage, reason: 'The user wants it run.', analysis: assessment.analysis }
}
