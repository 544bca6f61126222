import { shellJoin } from '../core/text/shell-join.ts'
import type { Report, RunEnd } from './report-types.ts'
import { lastRun } from './run-facts.ts'

/** A command that the user may want to run next. */
type NextCommand = { readonly what: string; readonly command: string }

/** The commands that the user may want to run next for a session, for example to land or undo its changes, resume it, or verify its audit log. */
export function nextCommands(report: Report): readonly NextCommand[] {
  const run = lastRun(report)
  const { threadId } = report
  if (report.job !== undefined)
    return [{ what: 'Download what the workflow kept, such as the report and the patch', command: report.job.download }]
  const folder = run.configuration.find(([name]) => name === 'session')?.[1]
  if (run.ephemeral || threadId === '') return []
  if (report.isOfBatch === true) return ofAttempt(run.end)
  const id = threadId.slice(-12)
  const there = run.workspace === undefined ? [] : ['-C', run.workspace]
  return [
    ...ofTransaction(id, run.end?.transaction),
    {
      what: 'Continue the session',
      command: `${shellJoin(['agent', 'exec', 'resume', id, ...there])} "what to do next"`,
    },
    {
      what: 'Start a new session that continues from the history of this one',
      command: `${shellJoin(['agent', 'exec', 'fork', id, ...there])} "what to do instead"`,
    },
    {
      what: 'Repeat the calls of this session without a model, in a private view of the current tree and under the current rules',
      command: shellJoin(['agent', 'replay', id, ...there, '--keep-going', '--land', 'never']),
    },
    ...(run.workspace === undefined
      ? []
      : [{ what: 'See what changed in the workspace', command: shellJoin(['git', '-C', run.workspace, 'diff']) }]),
    ...(folder === undefined
      ? []
      : [
          {
            what: 'Check that the audit log of this session is complete',
            command: verifyAudit(`${folder}/audit.jsonl`, run.end),
          },
        ]),
  ]
}

/**
 * Returns the commands for an attempt of a batch. They must be run in the folder that contains the report, because the batch may have run on another
 * machine, where the paths were different.
 */
function ofAttempt(end: RunEnd | undefined): readonly NextCommand[] {
  const hasChanges = end?.transaction?.outcome === 'kept'
  return [
    ...(hasChanges
      ? [
          {
            what: "In this page's folder: apply the changes of this run to its repository",
            command: 'git -C REPOSITORY apply --binary "$PWD/changes.patch"',
          },
        ]
      : []),
    {
      what: "In this page's folder: print the whole session, in Markdown",
      command: 'agent report session --format md',
    },
    {
      what: "In this page's folder: check that the audit log of the session is complete",
      command: verifyAudit('session/audit.jsonl', end),
    },
  ]
}

/** The command that checks an audit log, up to the last record that the run reported. */
function verifyAudit(log: string, end: RunEnd | undefined): string {
  const head = end?.auditHead === undefined ? [] : ['--head', end.auditHead]
  return shellJoin(['agent', 'audit', 'verify', log, ...head])
}

/** Commands that show, apply, discard or undo the changes of a transaction, depending on its outcome. */
function ofTransaction(id: string, transaction: RunEnd['transaction']): readonly NextCommand[] {
  const command = (...words: readonly string[]): string => shellJoin(['agent', ...words])
  switch (transaction?.outcome) {
    case 'landed':
      return transaction.canUndo ? [{ what: 'Undo the changes of the run', command: command('undo', id) }] : []
    case 'kept':
    case 'conflict':
    case 'failed':
      return [
        {
          what: 'See the changes of the run, which are not in the workspace yet',
          command: command('changes', id, '--diff'),
        },
        { what: 'Apply these changes to the workspace', command: command('apply', id) },
        { what: 'Discard these changes', command: command('discard', id) },
      ]
    default:
      return []
  }
}
