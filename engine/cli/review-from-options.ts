import process from 'node:process'
import type { RunRequest } from '../app/run-request.ts'
import { readUserText } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { readKnownFindings, type KnownFinding } from '../review/known-findings.ts'
import type { ReviewTarget } from '../review/review-request.ts'
import type { ExecOptions, ReviewOptions } from './exec-options.ts'
import { readPiped, readPrompt } from './read-prompt.ts'
import { runRequest } from './request-from-options.ts'

/** Options that a review can't have, because it changes nothing and its result has a fixed form. */
const unfit: readonly (readonly [option: string, isGiven: (options: ExecOptions) => boolean])[] = [
  ['-s', ({ sandbox }) => sandbox !== undefined && sandbox !== 'read-only'],
  ['--full-auto', ({ fullAuto }) => fullAuto === true],
  ['--add-dir', ({ addDir }) => addDir !== undefined && addDir.length > 0],
  ['--externally-sandboxed', ({ externallySandboxed }) => externallySandboxed === true],
  ['--dangerously-mount-docker-socket', ({ dangerouslyMountDockerSocket }) => dangerouslyMountDockerSocket === true],
  [
    '--dangerously-bypass-approvals-and-sandbox',
    ({ dangerouslyBypassApprovalsAndSandbox }) => dangerouslyBypassApprovalsAndSandbox === true,
  ],
  ['--plan', ({ plan }) => plan !== undefined],
  ['--view', ({ view }) => view !== undefined],
  ['--in-place', ({ inPlace }) => inPlace === true],
  ['--land', ({ land, landIgnored }) => land !== undefined || landIgnored !== undefined],
  ['--output-schema', ({ outputSchema }) => outputSchema !== undefined],
  ['--verify', ({ verify, verifyAttempts }) => verify !== undefined || verifyAttempts !== undefined],
  ['--verify-red', ({ verifyRed }) => verifyRed !== undefined],
  ['--allow-test-changes', ({ allowTestChanges }) => allowTestChanges === true],
  ['--allow-weakening', ({ allowWeakening }) => allowWeakening !== undefined],
  ['--claims', ({ claims, failOnContradiction }) => claims === true || failOnContradiction === true],
  ['--fail-on-no-change', ({ failOnNoChange }) => failOnNoChange === true],
]

/**
 * Turns a command line of `agent exec review` into a request.
 *
 * @param argument what to look for, as the user typed it
 * @throws UserError `usage` for options that a review can't have, if a file of known findings can't be read, and for all errors of `runRequest`
 */
export async function reviewRequest(
  argument: string | undefined,
  options: ExecOptions,
  review: ReviewOptions,
): Promise<RunRequest> {
  const misfit = unfit.find(([, isGiven]) => isGiven(options))
  if (misfit !== undefined) {
    throw new UserError(
      'usage',
      `agent exec review runs in a read-only sandbox, changes nothing and reports findings: ${misfit[0]} can't be used with it.`,
    )
  }
  const given = targetOf(review)
  const known = (review.known ?? []).flatMap(readKnown)
  const request = await runRequest(argument, options)
  let target: ReviewTarget = given ?? { type: 'uncommitted' }
  const note = options.quiet === true ? { note: () => undefined } : {}
  const words = async (): Promise<string> => {
    if (argument === '-') return readPrompt(argument, process.stdin, { ...options, ...note })
    if (given !== undefined) return argument ?? ''
    const piped = await readPiped(process.stdin, true, { ...options, ...note })
    if (piped.trim() !== '') target = { type: 'diff', text: piped }
    return argument ?? ''
  }
  return {
    ...request,
    task: { ...request.task, type: 'prompt', prompt: words },
    settings: {
      ...request.settings,
      flags: [
        ...(request.settings?.flags ?? []),
        {
          flag: 'agent exec review',
          settings: { sandbox_mode: 'read-only', dangerously_mount_docker_socket: false },
        },
      ],
    },
    review: {
      target: () => target,
      known,
      ...(review.failOn === undefined ? {} : { failOn: review.failOn }),
    },
  }
}

function targetOf({ uncommitted, base, commit }: ReviewOptions): ReviewTarget | undefined {
  if (base !== undefined) return { type: 'base', branch: base }
  if (commit !== undefined) return { type: 'commit', commit }
  return uncommitted === true ? { type: 'uncommitted' } : undefined
}

const largestReport = 256 * 1024 * 1024

function readKnown(file: string): readonly KnownFinding[] {
  return readKnownFindings(readUserText(file, largestReport, `--known ${file}`), file)
}
