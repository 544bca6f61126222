import { closedTemporaryDirectory } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { trustMoreOf } from '../core/certificates.ts'
import { learnSecret } from '../core/text/mask-secrets.ts'
import { openCredentials } from '../config/credentials.ts'
import { withoutSecrets } from '../memory/read-memory.ts'
import { deniedFiles } from '../config/denied-files.ts'
import type { Closing } from './closing.ts'
import { OutsideEffects } from './outside-effects.ts'
import { openRunSandbox, openLike, openEscalation } from './run-sandbox.ts'
import { forbiddenHosts } from './forbidden-hosts.ts'
import { ServiceConnections } from './service-connections.ts'
import { sandboxModeOf } from './modes.ts'
import { openPlanMode } from './open-plan-mode.ts'
import { openTransaction } from './open-transaction.ts'
import { withheldInPlace } from './run-transaction.ts'
import { installedRoots } from './enabled-plugins.ts'
import { recoverTree } from './recover-tree.ts'
import { placesOfServers } from './server-places.ts'
import type { Confined, InSession, Loaded } from './stages.ts'

/**
 * Opens the sandbox. If the run is a transaction, commands in the sandbox see a private view of the tree.
 *
 * @throws UserError `sandboxUnavailable` if the policy can't be enforced here, `usage` if the policy is invalid
 */
export async function confineRun(loaded: Loaded, closing: Closing): Promise<Confined> {
  const { request, policies, config, extensions, home, settings, workspace } = loaded
  const forbids = forbiddenHosts(policies)
  const external = request.externallySandboxed === true
  const confining = !external && sandboxModeOf(settings) !== 'danger-full-access'
  const denied = deniedFiles(policies.permissions, workspace, confining)
  const { environment } = request
  const readable = [...installedRoots(config, home), ...placesOfServers(extensions.servers, home)]
  const transaction = await openTransaction(loaded, closing, denied.protectedPaths)
  const notShown = transaction?.view.state.not_shown ?? (await withheldInPlace(loaded))
  const views = transaction && { views: transaction.view.views, keptIn: transaction.view.directory }
  const effects = transaction === undefined ? undefined : new OutsideEffects()
  const connections = new ServiceConnections()
  const { onConnection, onOpenConnection, onUse } = connections
  const credentials = await openCredentials(settings, environment, workspace)
  for (const { name, value } of credentials.secrets) learnSecret(name, value)
  const { secretOf } = credentials
  const watch = {
    onDecision: effects?.onDecision,
    onConnection,
    onOpenConnection,
    onUse,
    secretOf,
    trustMore: trustMoreOf(environment),
  }
  const sandbox = await openRunSandbox(settings, workspace, {
    ...{ external, forbids, environment, readable, views, watch, credentials },
    denied: views === undefined ? { ...denied, deniedReads: [...denied.deniedReads, ...notShown] } : denied,
  })
  closing.add(() => sandbox.close())
  if (transaction?.view.state.strategy === 'overlay' && sandbox.backend === 'docker') {
    throw new UserError(
      'sandboxUnavailable',
      "The run's view can't be an overlay: the docker daemon can't see an overlay that is mounted for a single process, and bubblewrap does not work here. Use --view=copy.",
    )
  }
  const escalation = openEscalation(sandbox, settings, forbids, watch)
  closing.add(() => escalation.close())
  return {
    ...loaded,
    memory: withoutSecrets(loaded.memory, notShown),
    sandbox,
    escalation,
    denied,
    notShown,
    forbids,
    watch,
    connections,
    openLike: openLike(sandbox, settings, forbids, watch),
    ...(effects === undefined ? {} : { effects }),
    ...(transaction === undefined ? {} : { transaction }),
  }
}

/**
 * Opens the session, and repairs the tree if a killed run has changed it only in part. The tree is not repaired here if the run is a transaction or
 * read-only.
 */
export async function beginSession(confined: Confined, signal: AbortSignal, closing: Closing): Promise<InSession> {
  const { request, beginning, workspace, sandbox, escalation, transaction } = confined
  const passing = request.ephemeral === true ? closedTemporaryDirectory(sandbox.policy, sandbox.backend) : undefined
  const session = transaction?.session ?? beginning.open(workspace, request.source, passing)
  if (transaction === undefined) closing.add(() => session.close())
  if (transaction !== undefined) {
    const { noteDecidedBy } = await import('../transaction/evidence/decided-by.ts')
    noteDecidedBy(session.directory, {
      ...confined.policies,
      approvalPolicy: confined.approvalMode,
      home: confined.home,
      sandbox,
      image: confined.settings.sandbox_image,
    })
  }
  const isRecovered = transaction !== undefined || sandbox.policy.mode === 'read-only'
  const recovered = isRecovered ? [] : await recoverTree(workspace)
  const planMode = openPlanMode(request.plan, beginning.resumedFrom, session.rollout)
  // A review gets no access beyond its read-only sandbox, even if somebody would approve such access.
  const began = confined.codeReview === undefined ? { workspace, sandbox, escalation } : { workspace, sandbox }
  return { ...confined, session, planMode, began, recovered, signal }
}
