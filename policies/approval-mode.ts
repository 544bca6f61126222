import type { SandboxMode } from './action.ts'
import type { Alarm, CommandClass, Fact } from './commands/facts.ts'

/**
 * Determines what somebody is asked to approve. The list describes ordinary commands in a sandbox. Other actions, such as access to secrets, changes
 * outside the writable roots, and calls to MCP tools that may write, need approval in every mode except `bypass`.
 *
 * - `untrusted`: everything except commands that certainly only read.
 * - `on-failure`: leaving the sandbox. Commands run inside it, and if the sandbox denies something, the model may request more access.
 * - `on-request`: leaving the sandbox, if the model asks for it.
 * - `never`: nothing. What would need approval is denied.
 * - `bypass`: only what a rule prompts for. Everything else is allowed unless a rule forbids it.
 */
export type ApprovalMode = 'untrusted' | 'on-failure' | 'on-request' | 'never' | 'bypass'

/**
 * All approval modes, in the order in which help texts list them.
 *
 * @example for (const mode of approvalModes) console.log(mode, checkCommand('npm test', { approvalMode: mode, sandbox: 'workspace-write' }).decision)
 */
export const approvalModes: readonly ApprovalMode[] = ['untrusted', 'on-failure', 'on-request', 'never', 'bypass']

/** A mode's decision about something that no rule covers. */
type ModeAnswer = 'allow' | 'ask' | 'deny'

/**
 * A mode's decision about one of a command's effects. `onView`: whether the command works on a private view of the workspace. What is lost there can
 * be had again, because the landing of the view shows it first. So only remote data counts as lost.
 *
 * |                       | untrusted | on-request, on-failure                    | never                  | bypass |
 * | --------------------- | --------- | ----------------------------------------- | ---------------------- | ------ |
 * | read-only             | allow     | allow                                     | allow                  | allow  |
 * | other, in a sandbox   | ask       | allow, but ask if much would be lost      | allow, but ask if much would be lost     | allow  |
 * | other, no sandbox     | ask       | ask if destructive or unknown             | ask if unknown, or if much would be lost | allow  |
 */
export function answerForFact(mode: ApprovalMode, sandbox: SandboxMode, fact: Fact, onView = false): ModeAnswer {
  if (fact.class === 'read-only') return 'allow'
  switch (mode) {
    case 'bypass':
      return 'allow'
    case 'untrusted':
      return 'ask'
    case 'on-failure':
    case 'on-request':
      if (sandbox === 'danger-full-access') return isUncertain(fact.class) ? 'ask' : 'allow'
      return losesMuch(fact, sandbox, onView) ? 'ask' : 'allow'
    case 'never':
      // Without a sandbox, the analysis is the only protection, so unknown commands must not run without a review.
      if (sandbox === 'danger-full-access' && fact.class === 'unknown') return 'ask'
      return losesMuch(fact, sandbox, onView) ? 'ask' : 'allow'
    default:
      return mode satisfies never
  }
}

/**
 * A mode's decision about an alarm. The mode `bypass` requires no approval. Without a sandbox, the other modes require approval for every alarm. In a
 * sandbox, a request for another user's privileges (`sudo`) is refused, because nobody can get them there. `untrusted` requires approval for every
 * other alarm except `unsandboxed`, and the rest require it only for access to secrets. An `unlisted-file` alarm is only a suspicion. The other alarms are harmless in the sandbox: a variable that is
 * set for one command, evaluated text, or another repository's configuration can do no more than the command itself; the URLs of git's remotes
 * contain no passwords, since the sandbox shows git's configuration without secrets; and commands that only read can't reach a daemon or a name
 * server.
 */
export function answerForAlarm(mode: ApprovalMode, sandbox: SandboxMode, alarm: Alarm): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  if (alarm.kind === 'unsandboxed') return sandbox === 'danger-full-access' ? 'ask' : 'allow'
  if (alarm.kind === 'privilege' && sandbox !== 'danger-full-access') return 'deny'
  if (mode === 'untrusted' || sandbox === 'danger-full-access') return 'ask'
  return alarm.kind === 'secret' ? 'ask' : 'allow'
}

/** A mode's decision about a change to files. `inside`: whether the files are within the writable roots and not protected. */
export function answerForWrite(mode: ApprovalMode, sandbox: SandboxMode, inside: boolean): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  if (mode === 'untrusted' || sandbox === 'read-only') return 'ask'
  return inside ? 'allow' : 'ask'
}

/** A mode's decision about a change to files with instructions for agents, wherever these files are stored. */
export function answerForInstructions(mode: ApprovalMode): ModeAnswer {
  return mode === 'bypass' ? 'allow' : 'ask'
}

/** A mode's decision about a call to an MCP server's tool. `readOnlyHint`: whether the tool declares that it only reads. */
export function answerForTool(mode: ApprovalMode, readOnlyHint: boolean): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  return readOnlyHint && mode !== 'untrusted' ? 'allow' : 'ask'
}

function isUncertain(found: CommandClass): boolean {
  return found === 'destructive' || found === 'unknown'
}

function losesMuch(fact: Fact, sandbox: SandboxMode, onView: boolean): boolean {
  if (fact.class !== 'destructive' || sandbox === 'read-only') return false
  return fact.extent === 'remote' || (fact.extent === 'wide' && !(onView && sandbox === 'workspace-write'))
}
