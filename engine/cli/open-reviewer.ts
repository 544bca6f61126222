import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import {
  createHumanReviewer,
  createProgramReviewer,
  httpExchange,
  nobody,
  withBreaker,
  type Reviewer,
} from '../../policies/index.ts'
import type { Settings } from '../config/schema.ts'
import type { Model } from '../model.ts'
import type { Places } from '../places.ts'
import type { ReviewDesk } from '../reviewers/desk.ts'
import { modelReviewer } from '../reviewers/model.ts'
import { answeringProgram } from '../reviewers/program.ts'
import { reported } from '../reviewers/report.ts'
import { askAtTerminal, openTerminal, type AskPerson } from '../reviewers/terminal.ts'
import { acceptedFiles, keepRule } from '../reviewers/keep-rule.ts'
import { UserError } from '../user-error.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'

/** A reviewer that is ready, and what frees it. */
export type OpenReviewer = {
  readonly reviewer: (desk: ReviewDesk) => Reviewer
  /** Asks the person anything else. Absent: nobody is there who could be asked. */
  readonly ask?: AskPerson
  readonly close: () => void
}

/** What making a reviewer needs. */
type Opening = {
  readonly config: Settings
  readonly places: Places
  /** Opens the model that reviews; called only where a model does. */
  readonly openModel: () => Promise<Model>
}

/**
 * Makes the reviewer that was chosen. A judge that refuses again and again ends the run; a person has a word for that.
 *
 * @throws UserError `usage` for a model or a policy text that isn't there
 */
export async function openReviewer(
  choice: ReviewerChoice,
  { config, places, openModel }: Opening,
): Promise<OpenReviewer> {
  const timeout = config.approval_timeout === undefined ? {} : { timeoutMs: config.approval_timeout * 1000 }
  const nothingToClose = (): void => undefined
  switch (choice.kind) {
    case 'nobody':
      return { reviewer: () => nobody, close: nothingToClose }
    case 'person': {
      const ask = openTerminal({ input: process.stdin, output: process.stderr })
      return { reviewer: personAt(ask, places), ask, close: nothingToClose }
    }
    case 'program': {
      const program = answeringProgram(choice.argv)
      const reviewer = createProgramReviewer({ exchange: program.exchange, ...timeout })
      return { reviewer: (desk) => withBreaker(reported(desk, () => reviewer)), close: program.close }
    }
    case 'url': {
      const reviewer = createProgramReviewer({ exchange: httpExchange(choice.url), ...timeout })
      return { reviewer: (desk) => withBreaker(reported(desk, () => reviewer)), close: nothingToClose }
    }
    case 'model': {
      const model = await openModel()
      const policy = config.reviewer_policy_file === undefined ? undefined : readPolicy(config.reviewer_policy_file)
      return {
        reviewer: (desk) =>
          withBreaker(
            reported(desk, (spend) => modelReviewer({ model, desk, spend, policy, timeoutMs: timeout.timeoutMs })),
          ),
        close: nothingToClose,
      }
    }
    default:
      return choice satisfies never
  }
}

/** The person at the terminal. To be made once: two would both read what is typed. */
export function personAtTerminal(places: Places): OpenReviewer['reviewer'] {
  return personAt(openTerminal({ input: process.stdin, output: process.stderr }), places)
}

function personAt(ask: AskPerson, places: Places): OpenReviewer['reviewer'] {
  const person = createHumanReviewer({
    ask: askAtTerminal(ask, acceptedFiles(places)),
    writeRule: (rule) => keepRule(places, rule),
  })
  return (desk) => reported(desk, () => person)
}

function readPolicy(file: string): string {
  const path = file === '~' || file.startsWith('~/') ? join(homedir(), file.slice(1)) : file
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError('usage', `reviewer_policy_file: ${path} can't be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
