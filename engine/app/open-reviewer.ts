import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { homeDirectory } from '../../sandbox/index.ts'
import {
  createHumanReviewer,
  createProgramReviewer,
  httpExchange,
  nobody,
  withBreaker,
  type Reviewer,
} from '../../policies/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Model } from '../core/model.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { connectTrusting } from '../core/certificates.ts'
import type { RunContext } from '../tools/run-context.ts'
import { callerReviewer, type CallerReviewer } from '../approvals/caller-reviewer.ts'
import { functionReviewer } from '../approvals/function-reviewer.ts'
import { modelReviewer } from '../approvals/reviewing-model.ts'
import { answeringProgram } from '../approvals/answering-program.ts'
import { reported } from '../approvals/report-decisions.ts'
import { askAtTerminal, type AskPerson } from '../approvals/ask-at-terminal.ts'
import { acceptedFiles, keepRule } from '../approvals/keep-rule.ts'
import { readUserText } from '../core/read-plain-file.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'

/** A reviewer that is ready, and a function that releases it. */
export type OpenReviewer = {
  readonly reviewer: (runContext: RunContext) => Reviewer
  /** The person at the terminal as a reviewer, available even if another reviewer answers the Guardian; undefined if no person can be asked. */
  readonly person?: (runContext: RunContext) => Reviewer
  /** Asks the person at the terminal a question that isn't the Guardian's; undefined if no person can or should be asked. */
  readonly ask?: AskPerson
  /** Takes the caller's answer to a question; undefined if the caller isn't the reviewer. */
  readonly answer?: CallerReviewer['answer']
  readonly close: () => Promise<void> | void
}

/** What is needed to create a reviewer. */
type ReviewerDependencies = {
  readonly config: Settings
  readonly places: AppPaths
  /** The paths that commands may write to. */
  readonly roots: readonly string[]
  /** Asks the person at the terminal; undefined if no person can be asked. */
  readonly person: AskPerson | undefined
  /** Receives the standard error of reviewer programs. If undefined, their standard error is discarded. */
  readonly errors: Writable | undefined
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Opens the reviewing model. Called only if a model reviews. */
  readonly openModel: () => Promise<Model>
}

/**
 * Creates the chosen reviewer. Repeated denials by a function, a program, a URL or a model end the run; a person or the caller decides whether the
 * run ends.
 *
 * @throws UserError `usage` if the reviewing model can't be opened, or its policy text can't be read
 */
export async function openReviewer(choice: ReviewerChoice, dependencies: ReviewerDependencies): Promise<OpenReviewer> {
  const { person, places } = dependencies
  const opened = await openChosen(choice, dependencies)
  return person === undefined ? opened : { ...opened, person: personAt(person, places) }
}

async function openChosen(
  choice: ReviewerChoice,
  { config, places, roots, openModel, person, errors, environment }: ReviewerDependencies,
): Promise<OpenReviewer> {
  const timeout = config.approval_timeout === undefined ? {} : { timeoutMs: config.approval_timeout * 1000 }
  const nothingToClose = (): void => undefined
  switch (choice.kind) {
    case 'nobody':
      return { reviewer: () => nobody, close: nothingToClose }
    case 'person': {
      if (person === undefined) return { reviewer: () => nobody, close: nothingToClose }
      return { reviewer: personAt(person, places), ask: person, close: nothingToClose }
    }
    case 'caller': {
      const { reviewer, answer } = callerReviewer()
      return { reviewer: (runContext) => reported(runContext, () => reviewer), answer, close: nothingToClose }
    }
    case 'function': {
      const reviewer = functionReviewer(choice.review)
      const around = choice.isPatient === true ? (one: Reviewer) => one : withBreaker
      return { reviewer: (runContext) => around(reported(runContext, () => reviewer)), close: nothingToClose }
    }
    case 'program': {
      const program = await answeringProgram(choice.argv, { roots, environment, errors })
      const reviewer = createProgramReviewer({ exchange: program.exchange, ...timeout })
      return { reviewer: (runContext) => withBreaker(reported(runContext, () => reviewer)), close: program.close }
    }
    case 'url': {
      const { url } = choice
      const post = httpExchange(url)
      const exchange: typeof post = (...asked) => connectTrusting(new URL(url), environment, () => post(...asked))
      const reviewer = createProgramReviewer({ exchange, ...timeout })
      return { reviewer: (runContext) => withBreaker(reported(runContext, () => reviewer)), close: nothingToClose }
    }
    case 'model': {
      const model = await openModel()
      const policy = config.reviewer_policy_file === undefined ? undefined : readPolicy(config.reviewer_policy_file)
      return {
        reviewer: (runContext) =>
          withBreaker(
            reported(runContext, (spend) =>
              modelReviewer({ model, runContext, spend, policy, timeoutMs: timeout.timeoutMs }),
            ),
          ),
        close: nothingToClose,
      }
    }
    default:
      return choice satisfies never
  }
}

function personAt(ask: AskPerson, places: AppPaths): OpenReviewer['reviewer'] {
  const person = createHumanReviewer({
    ask: askAtTerminal(ask, acceptedFiles(places)),
    writeRule: (rule) => keepRule(places, rule),
  })
  return (runContext) => reported(runContext, () => person)
}

const largestPolicy = 1024 * 1024

function readPolicy(file: string): string {
  const path = file === '~' || file.startsWith('~/') ? join(homeDirectory(), file.slice(1)) : file
  return readUserText(path, largestPolicy, `reviewer_policy_file: ${path}`)
}
