import { createHash } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { parsePolicy, SandboxError, type SandboxPolicy } from '../../sandbox/index.ts'
import { createEscalation, type Escalation } from '../escalation/escalation.ts'
import { isInside } from '../core/directories-between.ts'
import type { ExecutionContext } from '../run/execution-context.ts'
import type { Worktree } from '../session/worktree-record.ts'
import { makeWorktree, type OpenSandbox } from './make-worktree.ts'
import { removeWorktree, whatWouldBeLost } from './remove-worktree.ts'
import { adminOf, commonDirectory, repositoryOf } from './worktree-paths.ts'

/** The functions that call the hooks for worktrees. */
export type WorktreeHooks = {
  /**
   * Asks the hooks to create a worktree with this name. Returns its path, or why a hook refused to create it, or undefined if no hook creates
   * worktrees.
   */
  readonly create: (name: string) => Promise<{ readonly path: string } | { readonly problem: string } | undefined>
  readonly remove: (path: string) => Promise<void>
  /** Called when the run moves to another directory. */
  readonly moved: (from: string, to: string) => Promise<void>
}

type Options = {
  /** The context in which the run began. */
  readonly home: ExecutionContext
  /** The root of the repository; undefined if the workspace is not in a repository. */
  readonly root: string | undefined
  /** The folder in which worktrees are created. */
  readonly folder: string
  /** Other folders in which hooks may create worktrees. */
  readonly hookFolders: readonly string[]
  readonly open: OpenSandbox
  readonly hooks: () => WorktreeHooks
  /** Records where the run works: in the given worktree or, if none is given, in the directory in which the run began. */
  readonly note: (worktree: Worktree | undefined) => void
}

/** A worktree that is to be created. If a hook creates it, the hook chooses the path. */
type Planned = {
  readonly path: string
  readonly branch: string
  readonly base: string
  /** Whether a hook has already created the worktree. */
  readonly made: boolean
}

type Problem = { readonly problem: string }

/** Keeps track of where a run works: in the directory where it began, or in one of its worktrees. */
export class Worktrees {
  readonly #options: Options
  #entered:
    { readonly worktree: Worktree; readonly at: ExecutionContext & { readonly escalation: Escalation } } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Where the run works now. */
  get now(): ExecutionContext {
    return this.#entered?.at ?? this.#options.home
  }

  /** The worktree that the run works in; undefined if it works where it began. */
  get current(): Worktree | undefined {
    return this.#entered?.worktree
  }

  /** The root of the repository. Undefined if the run doesn't work in a repository; no worktrees can then be created. */
  get root(): string | undefined {
    return this.#options.root
  }

  /** Returns the path in the original tree for a path in the worktree; undefined for any other path. */
  originalOf(path: string): string | undefined {
    const { root } = this.#options
    const inside = this.current?.path
    return root === undefined || inside === undefined || !isInside(path, inside)
      ? undefined
      : join(root, relative(inside, path))
  }

  /** Plans a worktree with this name. If a hook creates worktrees, it has already created the worktree when the promise resolves. */
  async plan(name: string, base: string): Promise<Planned | Problem> {
    const { root, folder, hooks, home } = this.#options
    if (root === undefined) return { problem: `${home.workspace} is not in a git repository.` }
    const chosen = await hooks().create(name)
    if (chosen !== undefined) return 'problem' in chosen ? chosen : this.#planMade(chosen.path)
    const mark = createHash('sha256').update(root).digest('hex').slice(0, 8)
    return { path: join(folder, `${basename(root)}-${mark}`, name), branch: `worktree-${name}`, base, made: false }
  }

  /** Creates the planned worktree, unless a hook has created it. From now on, the run works in this worktree. */
  async enter(planned: Planned, signal: AbortSignal): Promise<{ readonly worktree: Worktree } | Problem> {
    const { root, home, open } = this.#options
    if (root === undefined) return { problem: `${home.workspace} is not in a git repository.` }
    const { path, branch, base, made } = planned
    const { policy } = home.sandbox
    const ready = made ? { worktree: { path } } : await makeWorktree({ root, path, branch, base }, policy, open, signal)
    if ('problem' in ready) return ready
    const problem = await this.#move(ready.worktree)
    if (problem !== undefined) return { problem }
    this.#options.note(ready.worktree)
    await this.#options.hooks().moved(home.workspace, this.now.workspace)
    return { worktree: ready.worktree }
  }

  /** Returns to a worktree in which an earlier run of the session worked. If that is impossible, resolves to the reason, otherwise to undefined. */
  async resume(worktree: Worktree): Promise<string | undefined> {
    const same = worktree.git === undefined ? isDirectory(worktree.path) : adminOf(worktree.path) === worktree.git.admin
    if (!same)
      return `At ${worktree.path}, the worktree of the session no longer exists, so the session continues in the directory where it began.`
    return this.#move(worktree)
  }

  /** Describes which uncommitted files and commits would be lost if the worktree were removed; undefined if none would be. */
  async lost(signal: AbortSignal): Promise<string | undefined> {
    return this.current === undefined ? undefined : whatWouldBeLost(this.current, this.now.sandbox, signal)
  }

  /**
   * Returns to the original tree.
   *
   * @param remove whether to remove the worktree and its branch
   * @returns the worktree that was left and, if it should have been removed but wasn't removed completely, the reason
   */
  async leave(remove: boolean): Promise<{ readonly left: Worktree; readonly problem?: string }> {
    const { root, home, open, hooks, note } = this.#options
    const entered = this.#entered
    if (entered === undefined || root === undefined)
      throw new TypeError('a run can only leave a worktree that it is in')
    const { worktree: left, at } = entered
    this.#entered = undefined
    note(undefined)
    await close(at)
    await hooks().moved(at.workspace, home.workspace)
    if (!remove) return { left }
    await hooks().remove(left.path)
    const { path, git } = left
    if (git === undefined) {
      return isDirectory(path) ? { left, problem: `No WorktreeRemove hook removed ${path}.` } : { left }
    }
    const problem = await removeWorktree({ path, git }, root, home.sandbox.policy, open)
    return problem === undefined ? { left } : { left, problem }
  }

  /** Releases the resources for working in a worktree. The worktree itself stays. */
  async close(): Promise<void> {
    if (this.#entered !== undefined) await close(this.#entered.at)
  }

  async #move(worktree: Worktree): Promise<string | undefined> {
    const { root, home, open } = this.#options
    if (root === undefined) return `${home.workspace} is not in a git repository.`
    try {
      const same = join(worktree.path, relative(root, home.workspace))
      const workspace = isDirectory(same) && realpathSync(same) === same ? same : worktree.path
      const policy = policyInWorktree(home.sandbox.policy, root, worktree.path, workspace)
      const sandbox = await open(policy)
      this.#entered = {
        worktree,
        at: { workspace: policy.workspace, sandbox, escalation: createEscalation(sandbox, open) },
      }
      return undefined
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      return error.message
    }
  }

  /** Accepts a worktree created by a hook, provided that it is in a folder where hooks may create worktrees, or is listed by the repository. */
  #planMade(printed: string): Planned | Problem {
    const { home, root, hookFolders } = this.#options
    if (!isAbsolute(printed) || !isDirectory(printed)) {
      return {
        problem: `The WorktreeCreate hook has to print the absolute path of a directory, but it printed '${printed}'.`,
      }
    }
    const path = realpathSync(printed)
    const { policy } = home.sandbox
    const roots = policy.mode === 'workspace-write' ? [policy.workspace, ...policy.writableRoots] : []
    const allowed = [...roots, ...hookFolders].some((folder) => path !== folder && isInside(path, folder))
    const admin = adminOf(path)
    const common = root === undefined ? undefined : commonDirectory(root)
    const registered = admin !== undefined && common !== undefined && dirname(admin) === join(common, 'worktrees')
    if (allowed || registered) return { path, branch: '', base: '', made: true }
    return {
      problem: `A WorktreeCreate hook printed ${path}, which is neither a worktree of this repository nor in a writable folder.`,
    }
  }
}

async function close({ sandbox, escalation }: ExecutionContext & { readonly escalation: Escalation }): Promise<void> {
  await escalation.close()
  await sandbox.close()
}

/** Returns the run's policy for work in the worktree. The worktree is writable instead of the original tree, which becomes read-only. */
function policyInWorktree(policy: SandboxPolicy, root: string, path: string, workspace: string): SandboxPolicy {
  const apart = (path: string): boolean => !isInside(path, root) && !isInside(root, path)
  return parsePolicy({
    ...policy,
    workspace,
    // If the run began in a subfolder of the repository, only that subfolder of the worktree is writable. Git needs to see the whole worktree.
    readableRoots: [...policy.readableRoots, ...repositoryOf(root), ...(path === workspace ? [] : [path])],
    writableRoots: policy.writableRoots.filter(apart),
    writableFiles: policy.writableFiles.filter(apart),
  })
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
