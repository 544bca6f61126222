import { release } from 'node:os'
import process from 'node:process'
import { factsOf, insideAddress } from '../../sandbox/index.ts'
import { serviceInside } from '../core/named-services.ts'
import { environmentContext } from '../run/environment-context.ts'
import { describeHead, readHead } from '../run/git-state.ts'
import { describeReviewer } from './choose-reviewer.ts'
import type { InSession } from './stages.ts'
import { toolFacts } from './tool-facts.ts'

/** Returns the description of the environment for the model. */
export function describeEnvironment(session: InSession): string {
  const { workspace, sandbox, approvalMode, choice } = session
  const { mode, network, services, credentials, writableRoots, writableFiles } = sandbox.policy
  const isFree = mode === 'danger-full-access'
  const hosts = (): 'full' | 'off' | readonly string[] =>
    network.mode === 'allowlist'
      ? network.allow.map((entry) => (typeof entry === 'string' ? entry : entry.host))
      : network.mode
  return environmentContext({
    workspace,
    date: new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
    system: `${process.platform} ${release()}, ${process.arch}`,
    shell: sandbox.shell,
    git: describeHead(readHead(session.project.root)),
    sandboxMode: mode,
    writable: [...writableRoots, ...writableFiles].filter((place) => place !== workspace),
    // If the sandbox has no private `/tmp`, commands use the machine's `/tmp`.
    hasPrivateTmp: !isFree && factsOf(sandbox.backend).hasPrivateTmp,
    services: services.map(serviceInside),
    credentials: credentials.map(({ hosts, allow }) => `${hosts.map(insideAddress).join(', ')} (${allow.join(', ')})`),
    network: isFree ? 'full' : hosts(),
    approvalPolicy: approvalMode,
    reviewer: describeReviewer(choice),
    canEscalate: toolFacts(session, []).canEscalate,
  })
}
