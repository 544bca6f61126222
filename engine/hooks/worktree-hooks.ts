import type { WorktreeHooks } from '../worktree/worktrees.ts'
import type { Hooks } from './hooks.ts'

/**
 * Returns the functions that run the hooks for worktrees. If there is a `WorktreeCreate` hook, git doesn't create the worktree; the hook does. If the
 * hook fails, refuses or prints no path, no worktree is created.
 *
 * @param hooks the run's hooks; undefined if it has none
 */
export function worktreeHooks(hooks: Hooks | undefined): WorktreeHooks {
  return {
    create: async (name) => {
      if (hooks?.has('WorktreeCreate') !== true) return undefined
      const { stop, decision, reason = '', worktreePath: path } = await hooks.fire('WorktreeCreate', { name })
      if (stop !== undefined) return { problem: stop }
      if (decision === 'deny') return { problem: reason }
      return path === undefined ? { problem: 'The WorktreeCreate hook printed no path.' } : { path }
    },
    remove: async (path) => {
      await hooks?.fire('WorktreeRemove', { worktree_path: path })
    },
    moved: async (from, to) => {
      await hooks?.fire('CwdChanged', { old_cwd: from, new_cwd: to })
    },
  }
}
