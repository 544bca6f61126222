import { GitHubError, type GitHub } from '../shared/github.ts'
import { ActionError } from '../shared/runner.ts'

/** Events that only accounts with write access to the repository can trigger. */
const begunByWriters: ReadonlySet<string> = new Set([
  'push',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'release',
  'merge_group',
])

/** Events that anybody can trigger, and whose workflows nevertheless have access to the repository's secrets. */
const privileged: ReadonlySet<string> = new Set([
  'pull_request_target',
  'workflow_run',
  'issue_comment',
  'issues',
  'discussion',
  'discussion_comment',
])

type Sender = { readonly login: string; readonly id: number; readonly type: string }

/**
 * Refuses accounts without permission: the account that starts the run must have write access or be listed in `allowed`. A bot must be listed by its number,
 * because anybody can create a bot whose name looks like that of another bot.
 *
 * @param allowed logins or account numbers
 * @throws ActionError if the account isn't allowed to start a run, if the event names no account, or if `allowed` contains `*`
 */
export async function requireActor(
  eventName: string,
  event: Readonly<Record<string, unknown>>,
  allowed: readonly string[],
  github: GitHub | undefined,
): Promise<void> {
  if (allowed.includes('*')) throw new ActionError("'allow-actors' accepts only logins and account numbers, not '*'.")
  if (begunByWriters.has(eventName)) return
  const sender = event['sender'] as Partial<Sender> | undefined
  const { login, id, type } = sender ?? {}
  if (login === undefined || id === undefined)
    throw new ActionError(`The event ${eventName} doesn't name the account that triggered it, so nothing runs.`)
  if (allowed.includes(String(id))) return
  const isBot = type !== 'User' || login.endsWith('[bot]')
  if (isBot) {
    throw new ActionError(
      `${login} (account ${id}) is a bot, and its number isn't in 'allow-actors'. A bot is identified by its number, never by its name.`,
    )
  }
  if (allowed.some((name) => name.toLowerCase() === login.toLowerCase())) return
  if (!/^[A-Za-z0-9-]+$/.test(login) || github === undefined) throw new ActionError(refused(login))
  if (!(await mayWrite(login, github))) throw new ActionError(refused(login))
}

function refused(login: string): string {
  return `${login} is not known to have write access to this repository, and isn't in 'allow-actors', so nothing runs.`
}

async function mayWrite(login: string, github: GitHub): Promise<boolean> {
  try {
    const answer = (await github('GET', `/collaborators/${login}/permission`)) as { readonly permission?: string }
    return answer.permission === 'admin' || answer.permission === 'write'
  } catch (error) {
    if (error instanceof GitHubError) return false
    throw error
  }
}

/**
 * Refuses to work on a stranger's code if the event gives the workflow access to the repository's secrets.
 *
 * @param head the checked-out commit
 * @throws ActionError, which names the event and says what to do instead
 */
export function requireOwnCheckout(eventName: string, head: string, sha: string): void {
  if (!privileged.has(eventName) || head === sha) return
  throw new ActionError(
    `The event ${eventName} gives access to this repository's secrets, but the checked-out commit ${head.slice(0, 12)} is not the commit of the event (${sha.slice(0, 12)}): ` +
      'somebody else may have written it. Run on pull_request, or check out without a ref.',
  )
}

/** Whether the event is about a pull request or in `privileged`. If so, the checkout may be a proposal, and its files must not configure the run. */
export function isProposal(eventName: string): boolean {
  return eventName.startsWith('pull_request') || privileged.has(eventName)
}
