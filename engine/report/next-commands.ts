import { shellJoin } from '../core/text/shell-join.ts'
import type { Report, RunEnd } from './report-types.ts'
import { lastRun } from './run-facts.ts'

/** A command that the user may want to run next. */
type NextCommand = { readonly what: string; readonly command: string }

/** The next commands for a session: land its changes or take them back, resume, replay, check. */
export function nextCommands(report: Report): readonly NextCommand[] {
  const run = lastRun(report)
  const { threadId } = report
  const folder = run.configuration.find(([name]) => name === 'session')?.[1]
  if (run.ephemeral || threadId === '') return []
  const id = threadId.slice(-12)
  const there = run.workspace === undefined ? [] : ['-C', run.workspace]
  const head = run.end?.auditHead === undefined ? [] : ['--head', run.end.auditHead]
  return [
    ...ofTransaction(id, run.end?.transaction),
    {
      what: 'Go on with the session',
      command: `${shellJoin(['agent', 'exec', 'resume', id, ...there])} "what to do next"`,
    },
    {
      what: 'Begin a new session with its history',
      command: `${shellJoin(['agent', 'exec', 'fork', id, ...there])} "what to do instead"`,
    },
    {
      what: 'Run it again without a model, on a private view: what it did, with the tree and the rules as they are now',
      command: shellJoin(['agent', 'replay', id, ...there, '--keep-going', '--transactional', '--land', 'never']),
    },
    ...(run.workspace === undefined
      ? []
      : [{ what: 'See what is changed in the workspace', command: shellJoin(['git', '-C', run.workspace, 'diff']) }]),
    ...(folder === undefined
      ? []
      : [
          {
            what: 'Check that its audit log is whole',
            command: shellJoin(['agent', 'audit', 'verify', `${folder}/audit.jsonl`, ...head]),
          },
        ]),
  ]
}

/** The changes of a transaction are one thing, which lands or goes as a whole. */
function ofTransaction(id: string, transaction: RunEnd['transaction']): readonly NextCommand[] {
  const command = (...words: readonly string[]): string => shellJoin(['agent', ...words])
  switch (transaction?.outcome) {
    case 'landed':
      return transaction.canUndo ? [{ what: 'Take back what it changed', command: command('undo', id) }] : []
    case 'kept':
    case 'conflict':
    case 'failed':
      return [
        { what: 'See what it changed, of which nothing is in the tree', command: command('changes', id, '--diff') },
        { what: 'Bring that into the tree', command: command('apply', id) },
        { what: 'Throw it away', command: command('discard', id) },
      ]
    default:
      return []
  }
}
