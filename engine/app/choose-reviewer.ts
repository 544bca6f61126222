import type { ReviewFunction } from '../approvals/function-reviewer.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { ApprovalMode } from '../../policies/index.ts'
import { UserError } from '../core/user-error.ts'

/** The reviewer that answers the Guardian's questions. */
export type ReviewerChoice =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'person' }
  | { readonly kind: 'program'; readonly argv: readonly [string, ...string[]] }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'model' }
  /** The caller that opened the run. It answers through `Run.answer`. */
  | { readonly kind: 'caller' }
  /** A function that the caller of the run provides. `isPatient`: repeated denials don't end the run. Default: they do. */
  | { readonly kind: 'function'; readonly review: ReviewFunction; readonly isPatient?: boolean }

/** The reviewers that are available besides those in the configuration. */
type Available = {
  /** The reviewer that the request names; undefined if it names none. */
  readonly by: ReviewerChoice | undefined
  /** Whether a person can be asked. */
  readonly isPersonThere: boolean
}

/**
 * Chooses the reviewer that answers the Guardian: the one in the request, or else the one in the configuration, or else the person at the terminal.
 * In the modes `never` and `bypass`, nobody is asked.
 *
 * @throws UserError `usage` if the configuration asks for a reviewer program but names no program, or names two reviewers
 */
export function chooseReviewer({ by, isPersonThere }: Available, config: Settings, mode: ApprovalMode): ReviewerChoice {
  if (mode === 'never' || mode === 'bypass') return { kind: 'nobody' }
  if (by !== undefined) return by
  const { approval_program: argv, approval_url: url } = config
  if (argv !== undefined && url !== undefined) {
    throw new UserError('usage', 'approval_program and approval_url are both set: leave one of them out.')
  }
  const person: ReviewerChoice = { kind: isPersonThere ? 'person' : 'nobody' }
  switch (config.approvals_reviewer) {
    case 'none':
      return { kind: 'nobody' }
    case 'user':
      return person
    case 'model':
    case 'auto_review':
      return { kind: 'model' }
    case 'program':
    case undefined:
      if (argv !== undefined) return { kind: 'program', argv }
      if (url !== undefined) return { kind: 'url', url }
      if (config.approvals_reviewer === undefined) return person
      throw new UserError(
        'usage',
        'approvals_reviewer is "program", but no program is named: set approval_program = ["command"] or approval_url.',
      )
    default:
      return config.approvals_reviewer satisfies never
  }
}

/** Describes the chosen reviewer to the model. */
export function describeReviewer({ kind }: ReviewerChoice): string {
  switch (kind) {
    case 'nobody':
      return 'nobody is there to ask'
    case 'person':
      return 'a person answers'
    case 'program':
    case 'url':
    case 'caller':
    case 'function':
      return 'a program answers'
    case 'model':
      return 'a reviewing model answers'
    default:
      return kind satisfies never
  }
}
