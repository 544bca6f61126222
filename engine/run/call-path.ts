import type { Guardian } from '../../policies/index.ts'
import { inheritedVariables } from '../../sandbox/index.ts'
import { openWorkingState } from '../tools/working-state.ts'
import { callReport } from './call-report.ts'
import type { CallPath } from './find-call.ts'
import { noHooks } from '../tools/hook-interface.ts'
import { todoOf } from './resumed-todo.ts'
import type { RunOptions } from './run-options.ts'
import type { Running } from './running.ts'
import { noTaskHooks } from '../tools/tasks/hooked-task.ts'
import { whilePlanning } from './execution-context.ts'

/** Creates everything that handles a run's calls, including the state that the calls share. That state must be closed with `closeWorkingState`. */
export function callPath(options: RunOptions, guardian: Guardian, { recorder, changes }: Running): CallPath {
  const { tools: registry, attended = false, session, planMode } = options
  const hooks = options.hooks?.calls ?? noHooks
  const now = whilePlanning(options, planMode)
  const state = openWorkingState(
    () => now().sandbox,
    (bytes) => session.keepOutput(bytes),
    // The secrets in these variables are masked. Commands may see them, if the user passes these variables on purpose.
    { ...inheritedVariables(), ...options.environment },
    {
      todo: todoOf(options),
      changes,
      notShown: options.notShown ?? [],
      taskHooks: options.hooks?.tasks ?? noTaskHooks,
      ...(options.outputLimits === undefined ? {} : { limits: options.outputLimits }),
    },
  )
  return {
    registry,
    hooks,
    recorder,
    replacement: options.replacement,
    report: callReport(options.sinks, options.environment),
    attended,
    ...(planMode === undefined ? {} : { planMode }),
    // The context is determined anew for each call, because the directory and its sandbox can change during a run.
    get context() {
      return { ...now(), guardian, state, variables: options.variables?.() ?? {} }
    },
  }
}
