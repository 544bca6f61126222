import { existsSync } from 'node:fs'
import process from 'node:process'
import { AuditError, readAuditLog, replayRecords, verifyAuditLog, type AuditRecord } from '../../../policies/index.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { counted } from '../../core/text/counted.ts'
import { UserError } from '../../core/user-error.ts'
import type { PolicyReplayOptions } from '../policy-options.ts'
import { warn } from '../warn.ts'
import { describeTally } from './describe.ts'
import { findLogs, type SessionLog } from './find-logs.ts'
import { policiesByWorkspace } from './policies-of.ts'
import { Tallying, type Change, type Tally } from './tally.ts'
import { printText, printJson } from '../print.ts'

/**
 * `agent policy replay`: judges all recorded actions of earlier sessions again, with the current rules and permissions, or with those that the
 * command line names. The modes are those of the sessions, unless an option, `-c` or a profile sets others. No command is run, and nobody is asked.
 *
 * @param named sessions, folders of sessions, or audit logs
 * @returns the exit code: 1 if the changes include any that `--fail-on` names (by default, an action that was not allowed then and would be now)
 * @throws UserError `usage` if no session is named, if there is no such session, or for an error in rules, permissions, settings or options
 */
export function policyReplay(named: readonly string[], options: PolicyReplayOptions): number {
  if (named.length === 0 && options.all !== true)
    throw new UserError('usage', 'agent policy replay: name sessions or folders of sessions, or give --all')
  const logs = findLogs(named, options.all === true)
  if (logs.length === 0) warn('there is no audit log, so there is no action to judge')
  const policiesOf = policiesByWorkspace(options)
  const tallying = new Tallying(options.examples)
  const absent = new Set<string>()
  const unread: string[] = []
  for (const log of logs) {
    const records = readRecords(log, unread)
    if (records === undefined) continue
    const workspace = log.workspace ?? process.cwd()
    if (!existsSync(workspace)) absent.add(workspace)
    tallying.begin()
    for (const replayed of replayRecords(records, policiesOf(workspace))) {
      const change = tallying.add(log.session, replayed)
      if (change !== undefined && options.json === true) printJson({ type: 'change', ...inJson(change) })
    }
  }
  const tally = tallying.result()
  tellDoubts(tally, [...absent], unread)
  if (options.json === true) printJson({ type: 'summary', ...summaryInJson(tally), unreadable: unread.length })
  else printText(describeTally(tally))
  return isFailure(tally, options.failOn) ? exitCodes.failed : exitCodes.done
}

/**
 * Reads the records of a log. If the log can't be read, prints a warning, adds the log to `unread` and returns undefined. If verification finds a
 * problem, such as a changed record, prints a warning and returns the records as they are.
 */
function readRecords({ path }: SessionLog, unread: string[]): readonly AuditRecord[] | undefined {
  try {
    const records = readAuditLog(path)
    const { faults } = verifyAuditLog(path)
    const [first] = faults
    if (first !== undefined)
      warn(
        `${path}:${first.line}: ${first.message} (${counted(faults.length, 'problem')} in this log; to see all, run agent audit verify)`,
      )
    return records
  } catch (error) {
    if (!(error instanceof AuditError)) throw error
    warn(`${error.message}; its session is left out`)
    unread.push(path)
    return undefined
  }
}

function tellDoubts({ withoutBasis, actions }: Tally, absent: readonly string[], unread: readonly string[]): void {
  const [first] = absent
  if (first !== undefined) {
    const others = absent.length === 1 ? ' is' : ` and ${absent.length - 1} more are`
    warn(
      `${first}${others} not on this machine: the rules and permissions of ${absent.length === 1 ? 'this repository' : 'these repositories'} are not applied`,
    )
  }
  if (withoutBasis > 0) {
    const what = `${withoutBasis} of ${counted(actions, 'record')} ${withoutBasis === 1 ? 'was' : 'were'} written by an earlier version, which did not store the facts about paths and hooks behind each decision`
    warn(`${what}: decisions about protected and hidden places may differ`)
  }
  if (unread.length > 0) warn(`${counted(unread.length, 'log')} could not be read`)
}

function isFailure({ groups }: Tally, failOn: PolicyReplayOptions['failOn']): boolean {
  if (failOn === 'none') return false
  return failOn === 'any' ? groups.length > 0 : groups.some(({ to }) => to === 'allow')
}

function inJson({ before, after, ...change }: Change): object {
  const side = ({ decidedBy, ...rest }: Change['before']): object => ({ ...rest, decided_by: decidedBy })
  return { ...change, before: side(before), after: side(after) }
}

function summaryInJson(tally: Tally): object {
  const { sessions, actions, unchanged, otherwiseDecided, withoutBasis, groups } = tally
  return {
    sessions,
    actions,
    unchanged,
    changed: actions - unchanged,
    decided_by_something_else: otherwiseDecided,
    without_basis: withoutBasis,
    groups: groups.map(({ examples, ...group }) => ({ ...group, examples: examples.map(inJson) })),
  }
}
