import { existsSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { factsOf } from '../../sandbox/index.ts'
import { environmentContext } from '../run/environment.ts'
import { describeGit, gitState, type GitState } from '../run/git-state.ts'
import { describeReviewer } from './choose-reviewer.ts'
import type { InSession } from './stages.ts'
import { toolFacts } from './tool-facts.ts'

/** Asks how the tree stands where a session begins; one that is gone on with was told so already. */
export function askGit({ project, sandbox, workspace, beginning, request }: InSession): Promise<GitState | undefined> {
  const isAsked = beginning.earlier === undefined && request.task.type === 'prompt'
  return isAsked && existsSync(join(project.root, '.git')) ? gitState(sandbox, workspace) : Promise.resolve(undefined)
}

/** What the model is told of where it is. */
export function describeEnvironment(session: InSession, git: GitState | undefined): string {
  const { workspace, sandbox, approvalMode, choice } = session
  const { mode, network, writableRoots, writableFiles } = sandbox.policy
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
    git: describeGit(git),
    sandboxMode: mode,
    writable: [...writableRoots, ...writableFiles].filter((place) => place !== workspace),
    // Elsewhere commands share this machine's.
    hasPrivateTmp: !isFree && factsOf(sandbox.backend).hasPrivateTmp,
    network: isFree ? 'full' : hosts(),
    approvalPolicy: approvalMode,
    reviewer: describeReviewer(choice),
    canEscalate: toolFacts(session, []).canEscalate,
  })
}
