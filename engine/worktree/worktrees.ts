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

/** The hooks about worktrees, and their answers. */
export type WorktreeHooks = {
  /** Asks for a worktree of a name. Returns its path, why there must be none, or undefined where no hook makes it. */
  readonly create: (name: string) => Promise<{ readonly path: string } | { readonly problem: string } | undefined>
  readonly remove: (path: string) => Promise<void>
  /** The run works elsewhere from now on. */
  readonly moved: (from: string, to: string) => Promise<void>
}

type Options = {
  /** Where the run began. */
  readonly home: ExecutionContext
  /** The root of the repository; undefined where the workspace is in none. */
  readonly root: string | undefined
  /** Below which worktrees are made. */
  readonly folder: string
  /** Other folders in which hooks may make worktrees. */
  readonly hookFolders: readonly string[]
  readonly open: OpenSandbox
  readonly hooks: () => WorktreeHooks
  /** Writes down where the run works: in a worktree, or (undefined) where it began. */
  readonly note: (worktree: Worktree | undefined) => void
}

/** A worktree that is to be made; its name is known, and its place unless a hook chooses it. */
type Planned = {
  readonly path: string
  readonly branch: string
  readonly base: string
  /** Whether a hook has made it already. */
  readonly made: boolean
}

type Problem = { readonly problem: string }

/** Where a run works: where it began, or in one worktree of it at a time. */
export class Worktrees {
  readonly #options: Options
  #entered:
    { readonly worktree: Worktree; readonly at: ExecutionContext & { readonly escalation: Escalation } } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Where it works now. */
  get now(): ExecutionContext {
    return this.#entered?.at ?? this.#options.home
  }

  /** The worktree it is in; undefined where it works where it began. */
  get current(): Worktree | undefined {
    return this.#entered?.worktree
  }

  /** The directory that worktrees can't be made without. */
  get root(): string | undefined {
    return this.#options.root
  }

  /** The path in the original tree for a path in the worktree; undefined for any other. */
  originalOf(path: string): string | undefined {
    const { root } = this.#options
    const inside = this.current?.path
    return root === undefined || inside === undefined || !isInside(path, inside)
      ? undefined
      : join(root, relative(inside, path))
  }

  /** The path for a worktree of this name. A hook may have made one by then. */
  async plan(name: string, base: string): Promise<Planned | Problem> {
    const { root, folder, hooks, home } = this.#options
    if (root === undefined) return { problem: `${home.workspace} is not in a git repository.` }
    const chosen = await hooks().create(name)
    if (chosen !== undefined) return 'problem' in chosen ? chosen : this.#planMade(chosen.path)
    const mark = createHash('sha256').update(root).digest('hex').slice(0, 8)
    return { path: join(folder, `${basename(root)}-${mark}`, name), branch: `worktree-${name}`, base, made: false }
  }

  /** Makes what was planned, unless a hook has, and works there from now on. */
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

  /** Returns to a worktree in which an earlier run of the session worked. Gives why that is impossible, or undefined. */
  async resume(worktree: Worktree): Promise<string | undefined> {
    const same = worktree.git === undefined ? isDirectory(worktree.path) : adminOf(worktree.path) === worktree.git.admin
    if (!same) return `The worktree ${worktree.path} that the session was in is gone, so it goes on where it began.`
    return this.#move(worktree)
  }

  /** What would be lost if the worktree were removed, in words; undefined for nothing. */
  async lost(signal: AbortSignal): Promise<string | undefined> {
    return this.current === undefined ? undefined : whatWouldBeLost(this.current, this.now.sandbox, signal)
  }

  /**
   * Returns to the original tree.
   *
   * @param remove whether to remove the worktree and its branch
   * @returns the worktree that was left, and what of it could not be removed
   */
  async leave(remove: boolean): Promise<{ readonly left: Worktree; readonly problem?: string }> {
    const { root, home, open, hooks, note } = this.#options
    const entered = this.#entered
    if (entered === undefined || root === undefined) throw new TypeError('a run leaves only a worktree that it is in')
    const { worktree: left, at } = entered
    this.#entered = undefined
    note(undefined)
    await close(at)
    await hooks().moved(at.workspace, home.workspace)
    if (!remove) return { left }
    await hooks().remove(left.path)
    const { path, git } = left
    if (git === undefined) {
      return isDirectory(path) ? { left, problem: `No WorktreeRemove hook has removed ${path}.` } : { left }
    }
    const problem = await removeWorktree({ path, git }, root, home.sandbox.policy, open)
    return problem === undefined ? { left } : { left, problem }
  }

  /** Frees what working in a worktree needed. The worktree stays. */
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

  /** A hook's worktree is accepted where the hook could have made it, or where the repository itself lists it as its worktree. */
  #planMade(printed: string): Planned | Problem {
    const { home, root, hookFolders } = this.#options
    if (!isAbsolute(printed) || !isDirectory(printed)) {
      return {
        problem: `The WorktreeCreate hook has to print the absolute path of a directory, and printed '${printed}'.`,
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
      problem: `${path}, which a WorktreeCreate hook printed, is no worktree of this repository and not in a folder that may be written.`,
    }
  }
}

async function close({ sandbox, escalation }: ExecutionContext & { readonly escalation: Escalation }): Promise<void> {
  await escalation.close()
  await sandbox.close()
}

/** The run's policy with the worktree in the place of the tree where it began, which can only be read. */
function policyInWorktree(policy: SandboxPolicy, root: string, path: string, workspace: string): SandboxPolicy {
  const apart = (path: string): boolean => !isInside(path, root) && !isInside(root, path)
  return parsePolicy({
    ...policy,
    workspace,
    // If the run began in a subfolder of the repository, only that folder is writable; git needs to see the folders around it.
    readableRoots: [...policy.readableRoots, ...repositoryOf(root), ...(path === workspace ? [] : [path])],
    writableRoots: policy.writableRoots.filter(apart),
    writableFiles: policy.writableFiles.filter(apart),
  })
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
