import { worktreeHooks } from '../../hooks/worktree-hooks.ts'
import { worktreeTools } from '../../worktree/worktree-tools.ts'
import type { Feature } from '../feature.ts'
import { openWorktrees } from '../open-worktrees.ts'

/** Lets the run work in its own git worktree. */
export const worktreeFeature: Feature = {
  name: 'worktree',
  open: async (context) => {
    const { request, services, session, beginning } = context
    const { worktrees, notices } = await openWorktrees({
      home: context.began,
      environment: request.environment,
      userHome: context.home,
      open: context.openLike,
      // The hooks are looked up when they are needed, because they are opened after this feature.
      hooks: () => services.hooks?.worktreeHooks ?? worktreeHooks(undefined),
      rollout: session.rollout,
      resumed: request.start?.type === 'resume' ? beginning.resumedFrom : undefined,
    })
    context.closing.add(() => worktrees.close())
    services.worktrees = worktrees
    return { ownTools: worktreeTools(worktrees, context.agents), notices }
  },
}
