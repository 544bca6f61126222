import * as z from 'zod'
import type { Action } from '../../policies/index.ts'
import type { Worktrees } from './worktrees.ts'
import { requireIdle, type BackgroundAgents } from '../tools/require-idle.ts'
import { defineTool } from '../tools/define-tool.ts'
import { denied } from '../tools/denied-result.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'

/**
 * The tools with which a model works in its own worktree: `enter_worktree` and `exit_worktree`.
 *
 * @param agents the agents to which the run delegates work. They work in the same tree
 */
export function worktreeTools(worktrees: Worktrees, agents: BackgroundAgents): readonly Tool[] {
  return [enterWorktree(worktrees, agents), exitWorktree(worktrees, agents)]
}

/** The reasons why a run must not switch to another tree yet: anything that is still running would continue in the old tree. */
const wording = { commands: 'Commands are still running here', agents: 'Agents are working here' }

const failed = (output: string): ToolResult => ({ ok: false, output })

function enterWorktree(worktrees: Worktrees, agents: BackgroundAgents): Tool {
  return defineTool({
    name: 'enter_worktree',
    claudeNames: ['EnterWorktree'],
    description:
      'Creates a git worktree on a new branch. From then on, commands, patches and file tools work there. The original tree can only be read meanwhile, and its uncommitted changes stay there. Use it for work that is to be kept separate.',
    input: z.object({
      name: z
        .string()
        .regex(/^(?!.*\.\.)[A-Za-z0-9][\w.-]{0,63}$/, 'letters, digits, "-", "_" and ".", at most 64')
        .describe('What the work is about, e.g. fix-login. The branch is called worktree-NAME.'),
      base: z.string().min(1).optional().describe('The commit to start from. Default: HEAD.'),
    }),
    deferred: true,
    searchHint: 'git worktree branch isolate separate copy of the repository',
    run: async ({ name, base = 'HEAD' }, context) => {
      if (worktrees.current !== undefined) {
        return failed(`You are already in the worktree ${worktrees.current.path}. Leave it with exit_worktree first.`)
      }
      if (context.sandbox.policy.mode === 'read-only')
        return failed('The sandbox is read-only: there are no changes to keep separate.')
      const reason = requireIdle(agents, context, wording)
      if (reason !== undefined) return failed(reason)
      const planned = await worktrees.plan(name, base)
      if ('problem' in planned) return failed(`No worktree was created: ${planned.problem}`)
      const { path, branch, made } = planned
      const argv = ['git', 'worktree', 'add', '-b', branch, path, base]
      const where = { cwd: context.workspace, sandbox: context.sandbox.policy.mode }
      // A worktree that a hook made needs no approval, because the user configured the hook.
      const refused = made ? undefined : await judge({ type: 'exec', argv, ...where }, context)
      if (refused !== undefined) return refused
      const entered = await worktrees.enter(planned, context.signal)
      if ('problem' in entered) return failed(`No worktree was created: ${entered.problem}`)
      const { worktree } = entered
      report(context, { state: 'entered', path: worktree.path, branch: worktree.git?.branch })
      const on = worktree.git === undefined ? '' : `, on the new branch ${worktree.git.branch}`
      return {
        ok: true,
        output: `You now work in ${worktrees.now.workspace}${on}. The original tree is read-only.`,
      }
    },
  })
}

function exitWorktree(worktrees: Worktrees, agents: BackgroundAgents): Tool {
  return defineTool({
    name: 'exit_worktree',
    claudeNames: ['ExitWorktree'],
    description:
      'Leaves the worktree and returns to the original tree. "keep" leaves the worktree\'s files and branch in place; "remove" deletes both, but refuses if uncommitted changes or commits would be lost, unless discard_changes is true.',
    input: z.object({
      action: z.enum(['keep', 'remove']),
      discard_changes: z
        .boolean()
        .optional()
        .describe('With remove: discard changes that exist nowhere else. Default: false.'),
    }),
    deferred: true,
    searchHint: 'git worktree leave remove branch go back',
    run: async ({ action, discard_changes: discard = false }, context) => {
      const { current } = worktrees
      if (current === undefined) return failed('You are not in a worktree.')
      const reason = requireIdle(agents, context, wording)
      if (reason !== undefined) return failed(reason)
      const where = { root: current.path, sandbox: context.sandbox.policy.mode }
      if (action === 'remove') {
        const lost = discard ? undefined : await worktrees.lost(context.signal)
        if (lost !== undefined) {
          return failed(`Removing it would lose ${lost}. Commit and keep it, or pass "discard_changes": true.`)
        }
        const refused = await judge(
          { type: 'patch', ...where, changes: [{ kind: 'delete', path: current.path }] },
          context,
        )
        if (refused !== undefined) return refused
      }
      const { left, problem } = await worktrees.leave(action === 'remove')
      const removed = action === 'remove' && problem === undefined
      report(context, { state: removed ? 'removed' : 'left', path: left.path, branch: left.git?.branch })
      const what =
        left.git === undefined
          ? `The worktree ${left.path} was ${removed ? 'removed' : 'kept'}.`
          : `The worktree ${left.path} and its branch ${left.git.branch} were ${removed ? 'removed' : 'kept'}.`
      const output = `You are back in ${worktrees.now.workspace}. ${problem ?? what}`
      return { ok: problem === undefined, output }
    },
  })
}

/** Asks the Guardian about an action; returns the failure of the call if the Guardian denies it. */
async function judge(action: Action, context: ToolContext): Promise<ToolResult | undefined> {
  const { verdict } = await context.review(action)
  return verdict.decision === 'allow' ? undefined : denied(verdict)
}

function report(
  { startItem, callId }: ToolContext,
  {
    branch,
    ...item
  }: { readonly state: 'entered' | 'left' | 'removed'; readonly path: string; readonly branch: string | undefined },
): void {
  startItem({ type: 'worktree', ...item, ...(branch === undefined ? {} : { branch }), call_id: callId }).complete({})
}
