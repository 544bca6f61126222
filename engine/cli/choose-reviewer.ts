import process from 'node:process'
import type { Settings } from '../config/schema.ts'
import type { ApprovalMode } from '../../policies/index.ts'
import { UserError } from '../user-error.ts'
import type { ExecOptions } from './exec-options.ts'

/** Who answers when the Guardian asks. */
export type ReviewerChoice =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'person' }
  | { readonly kind: 'program'; readonly argv: readonly [string, ...string[]] }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'model' }

/**
 * Who answers when the Guardian asks: what the flags say, else the configuration, else the person at the terminal. A
 * person is there only when standard input and standard error are a terminal and no event stream is asked for.
 *
 * @throws UserError `usage` for a configuration that names no program, or two
 */
export function chooseReviewer(options: ExecOptions, config: Settings, mode: ApprovalMode): ReviewerChoice {
  if (mode === 'never' || mode === 'bypass') return { kind: 'nobody' }
  if (options.approveForMe === true) return { kind: 'model' }
  if (options.approvalProgram !== undefined)
    return { kind: 'program', argv: ['/bin/sh', '-c', options.approvalProgram] }
  const { approval_program: argv, approval_url: url } = config
  if (argv !== undefined && url !== undefined) {
    throw new UserError('usage', 'approval_program and approval_url are both set: leave one of them out.')
  }
  const person: ReviewerChoice = { kind: isPersonThere(options) ? 'person' : 'nobody' }
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
        'approvals_reviewer is "program", and none is named: set approval_program = ["command"] or approval_url.',
      )
    default:
      return config.approvals_reviewer satisfies never
  }
}

/** Whether somebody sits at the terminal who can read a question and type an answer. */
export function isPersonThere(options: ExecOptions): boolean {
  return process.stdin.isTTY && process.stderr.isTTY && options.json !== true
}

/** The choice as the model is told of it. */
export function describeReviewer({ kind }: ReviewerChoice): string {
  switch (kind) {
    case 'nobody':
      return 'nobody is there to ask'
    case 'person':
      return 'a person answers'
    case 'program':
    case 'url':
      return 'a program answers'
    case 'model':
      return 'a reviewing model answers'
    default:
      return kind satisfies never
  }
}
