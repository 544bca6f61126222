import type { SandboxMode } from './action.ts'
import type { Alarm, CommandClass, Fact } from './commands/facts.ts'

/**
 * When somebody is asked.
 *
 * - `untrusted`: about everything but commands known to only read.
 * - `on-failure`: about what leaves the sandbox; commands run inside it, and a denial there may ask for more.
 * - `on-request`: about what leaves the sandbox, when the model asks for it.
 * - `never`: about nothing; what would be asked is denied.
 * - `bypass`: about nothing, and all is allowed that no rule forbids or prompts for.
 */
export type ApprovalMode = 'untrusted' | 'on-failure' | 'on-request' | 'never' | 'bypass'

/**
 * All modes, in the order of a help text.
 *
 * @example for (const mode of approvalModes) console.log(mode, checkCommand('npm test', { approvalMode: mode, sandbox: 'workspace-write' }).decision)
 */
export const approvalModes: readonly ApprovalMode[] = ['untrusted', 'on-failure', 'on-request', 'never', 'bypass']

/** What a mode says by itself about something that no rule speaks for. */
type ModeAnswer = 'allow' | 'ask'

/**
 * What a mode says about one fact of a command.
 *
 * |                       | untrusted | on-request, on-failure                    | never                  | bypass |
 * | --------------------- | --------- | ----------------------------------------- | ---------------------- | ------ |
 * | read-only             | allow     | allow                                     | allow                  | allow  |
 * | in a sandbox: the rest| ask       | allow, but ask where much would be lost   | the same               | allow  |
 * | without a sandbox     | ask       | ask for destructive and unknown           | ask for unknown, and where much is lost | allow  |
 */
export function answerForFact(mode: ApprovalMode, sandbox: SandboxMode, fact: Fact): ModeAnswer {
  if (fact.class === 'read-only') return 'allow'
  switch (mode) {
    case 'bypass':
      return 'allow'
    case 'untrusted':
      return 'ask'
    case 'on-failure':
    case 'on-request':
      if (sandbox === 'danger-full-access') return isUncertain(fact.class) ? 'ask' : 'allow'
      return losesMuch(fact, sandbox) ? 'ask' : 'allow'
    case 'never':
      // Without a sandbox the analysis is all there is: what it doesn't know must not run unseen.
      if (sandbox === 'danger-full-access' && fact.class === 'unknown') return 'ask'
      return losesMuch(fact, sandbox) ? 'ask' : 'allow'
    default:
      return mode satisfies never
  }
}

/**
 * What a mode says about an alarm. Where the sandbox holds, only what reaches for secrets or more rights is asked
 * about: a variable of one command, or a text that is run, can do no more there than the command itself. Addresses of remotes have no
 * password there, since a sandbox shows git's configuration without secrets, and what only reads reaches no daemon and no name server.
 */
export function answerForAlarm(mode: ApprovalMode, sandbox: SandboxMode, alarm: Alarm): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  if (alarm.kind === 'unsandboxed') return sandbox === 'danger-full-access' ? 'ask' : 'allow'
  if (mode === 'untrusted' || sandbox === 'danger-full-access') return 'ask'
  return alarm.kind === 'privilege' || alarm.kind === 'secret' ? 'ask' : 'allow'
}

/** What a mode says to a change of files: `inside` is within the roots that may be written, and not protected. */
export function answerForWrite(mode: ApprovalMode, sandbox: SandboxMode, inside: boolean): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  if (mode === 'untrusted' || sandbox === 'read-only') return 'ask'
  return inside ? 'allow' : 'ask'
}

/** What a mode says to a note in what agents are told from now on, wherever that is kept. */
export function answerForInstructions(mode: ApprovalMode): ModeAnswer {
  return mode === 'bypass' ? 'allow' : 'ask'
}

/** What a mode says to a call of another server's tool, which says of itself whether it only reads. */
export function answerForTool(mode: ApprovalMode, readOnlyHint: boolean): ModeAnswer {
  if (mode === 'bypass') return 'allow'
  return readOnlyHint && mode !== 'untrusted' ? 'allow' : 'ask'
}

function isUncertain(found: CommandClass): boolean {
  return found === 'destructive' || found === 'unknown'
}

function losesMuch(fact: Fact, sandbox: SandboxMode): boolean {
  return fact.class === 'destructive' && fact.extent === 'wide' && sandbox !== 'read-only'
}
