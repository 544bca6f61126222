import type { Sandbox } from '../../sandbox/index.ts'
import type { ReviewReport } from '../core/review-report-schema.ts'
import { severities } from '../core/severities.ts'
import { UserError } from '../core/user-error.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { RunReview } from '../run/run-options.ts'
import type { ToolContext } from '../tools/tool.ts'
import { findingsInput, findingsSchema, schemaErrors, type ReportedFinding } from './findings-schema.ts'
import { judgeFindings } from './judge-findings.ts'
import { parseDiff, type DiffFile } from './parse-diff.ts'
import { Places } from './places.ts'
import { reportDescription, reportTool, reviewPrompt } from './prompt.ts'
import { readChange } from './read-change.ts'
import type { ReviewRequest } from './review-request.ts'
import { weakerTests } from './weaker-tests.ts'
import { reviewMessage } from './write-message.ts'
import { counted } from '../core/text/counted.ts'

type Opened = {
  readonly of: string
  readonly files: readonly DiffFile[]
  readonly places: Places
  readonly notShown: readonly string[]
  readonly read: (path: string) => Promise<Buffer | undefined>
}

/** One review: its change, the findings that the model reports, and those that remain after checking. */
export class Review {
  readonly #request: ReviewRequest
  #opened: Opened | undefined
  #report: ReviewReport | undefined
  /** Whether the model has been told that findings are outside the change. If it reports findings outside the change again, they are dropped. */
  #wasTold = false
  /** How the model delivers its result: through a tool that takes the findings. */
  readonly output: OutputSchema
  /** What the run needs from the review when the run ends: the report, and the reason why the run fails, if it does. */
  readonly ending: RunReview

  constructor(request: ReviewRequest) {
    this.#request = request
    this.output = {
      schema: findingsSchema(),
      validate: schemaErrors,
      delivery: {
        name: reportTool,
        description: reportDescription,
        take: (value, context) => this.#take(value, context),
      },
    }
    this.ending = { report: () => this.#report, failure: () => this.#failure() }
  }

  /**
   * Gets the change, using git in the run's sandbox.
   *
   * @param words what to look for, in the user's words
   * @returns the prompt
   * @throws UserError `usage` if there is nothing to review, or if the change can't be read
   */
  async open(words: string, sandbox: Sandbox, cwd: string, signal: AbortSignal): Promise<string> {
    const { diff, of, command, read } = await readChange(this.#request.target(), { sandbox, cwd, signal })
    const files = parseDiff(diff)
    if (typeof files === 'string') throw new UserError('usage', `${capital(of)} can't be reviewed. ${files}`)
    if (files.length === 0) throw nothingIn(of)
    const { prompt, notShown } = reviewPrompt({ of, files, words, command, known: this.#request.known ?? [] })
    this.#opened = { of, files, places: new Places(files), notShown, read }
    return prompt
  }

  /** Returns what to tell the model about findings outside the change; undefined if there are none, or the model has been told before. */
  #complaintOf(reported: readonly ReportedFinding[]): string | undefined {
    const { places } = this.#needOpened()
    const outside = reported.flatMap((finding) => {
      if (places.find(finding) !== undefined) return []
      const { path, start_line: line, title } = finding
      const ranges = places.rangesOf(path)
      const instead =
        ranges === undefined
          ? 'the change contains no such file'
          : `the change shows these lines of that file: ${ranges || 'none'}`
      return [`- "${title}": ${path}:${line} is not a line of the change; ${instead}.`]
    })
    if (outside.length === 0 || this.#wasTold) return undefined
    this.#wasTold = true
    return `${outside.join('\n')}\nFor each of these, name the line of the change that causes the problem, or leave the finding out. Then report all findings again.`
  }

  async #take(
    value: unknown,
    { startItem }: ToolContext,
  ): Promise<{ readonly message: string } | { readonly refused: string }> {
    const { of, files, places, notShown, read } = this.#needOpened()
    const { summary, findings: reported } = findingsInput.parse(value)
    const refused = this.#complaintOf(reported)
    if (refused !== undefined) return { refused }
    const measure = { places, known: this.#request.known ?? [], read }
    const { findings, outside, droppedSuggestions, notices } = await judgeFindings(
      [...reported, ...weakerTests(files)],
      measure,
    )
    for (const finding of findings) startItem(finding).complete({})
    for (const message of notices) startItem({ type: 'error', message }).complete({})
    const count = (severity: string): number =>
      findings.filter((finding) => finding.severity === severity && finding.known !== true).length
    this.#report = {
      of,
      files: files.length,
      findings: { critical: count('critical'), high: count('high'), medium: count('medium'), low: count('low') },
      known: findings.filter(({ known }) => known === true).length,
      outside_change: outside,
      suggestions_dropped: droppedSuggestions,
      not_shown: [...notShown],
    }
    return { message: reviewMessage(summary, findings, this.#report) }
  }

  #failure(): string | undefined {
    const { failOn } = this.#request
    if (failOn === undefined || this.#report === undefined) return undefined
    const { findings } = this.#report
    const worse = severities.slice(severities.indexOf(failOn))
    const count = worse.reduce((sum, severity) => sum + findings[severity], 0)
    if (count === 0) return undefined
    const what = failOn === 'critical' ? 'critical' : `${failOn} or worse`
    return `The review has ${counted(count, 'finding')} of severity ${what}, so --fail-on fails the run.`
  }

  #needOpened(): Opened {
    if (this.#opened === undefined) throw new TypeError('open() must be called before a review is used')
    return this.#opened
  }
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function nothingIn(of: string): UserError {
  return of === 'the diff'
    ? new UserError(
        'usage',
        'Standard input is not a unified diff. Pipe one in (git diff | agent exec review), or give --uncommitted, --base or --commit.',
      )
    : new UserError(
        'usage',
        `There is nothing to review in ${of}. Give --base BRANCH or --commit SHA, or pipe a diff in.`,
      )
}
