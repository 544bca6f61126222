import { basename, dirname, join } from 'node:path'
import { Judge } from '../run/judge/judge.ts'
import { runJudge, type RunJudge } from '../run/judge/judge-attempt.ts'
import { recordChanges } from '../transaction/record-changes.ts'
import { judgeSettings } from './choose-verification.ts'
import { openForCopies } from './run-sandbox.ts'
import type { OpenTransaction } from './run-transaction.ts'
import type { InSession } from './stages.ts'

/** Opens the judge of the changes that a run makes in its view. */
export function openJudge(session: InSession, { view, noted }: OpenTransaction): RunJudge {
  const { sandbox, settings, forbids, watch, request, workspace } = session
  const sessions = dirname(view.directory)
  const judge = new Judge({
    view,
    workspace,
    settings: judgeSettings(request, settings),
    cache:
      request.ephemeral === true || basename(sessions) !== 'sessions' ? undefined : join(dirname(sessions), 'judge'),
    // What git ignores counts as well, because it can be what the command runs.
    changes: () => noted.then(() => recordChanges(view, sandbox, true)),
    openOwn: (policy) => session.openLike(policy),
    openCopies: openForCopies(sandbox, settings, forbids, watch),
  })
  return runJudge(judge)
}
