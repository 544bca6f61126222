import { KeptOutputs } from '../core/kept-outputs.ts'
import { openFiles, type Files } from './files/open-files.ts'
import { openRepl, type Repl } from './repl/open-repl.ts'
import { SeenFiles } from './files/seen-files.ts'
import { CommandSessions } from './command-sessions.ts'
import { BackgroundTasks } from './tasks/background-tasks.ts'
import { noTaskHooks, type TaskHooks } from './tasks/hooked-task.ts'
import { maskSecrets, type Mask } from '../core/text/mask-secrets.ts'
import { outputLimits, type OutputLimits } from '../core/text/output-limits.ts'
import type { ChangeSource } from '../core/changes/change-watch.ts'
import { TodoList, type TodoEntry } from './todo-list.ts'
import type { Sandbox } from '../../sandbox/index.ts'

/** What the tools of one run share and keep between calls. */
export type WorkingState = {
  /** Files as a command in the sandbox sees them. */
  readonly files: Files
  /** What the model knows of them. */
  readonly seen: SeenFiles
  /** Commands that continue after their calls were answered. */
  readonly sessions: CommandSessions
  /** The background tasks, by name. */
  readonly tasks: BackgroundTasks
  /** The JavaScript session. */
  readonly repl: Repl
  /** What the session has to do. */
  readonly todo: TodoList
  /** Outputs that were too long to show. */
  readonly kept: KeptOutputs
  /** Hides the secrets of the environment. */
  readonly mask: Mask
  /** How much of a result is shown. */
  readonly limits: OutputLimits
  /** Tracks what commands write. Absent: nothing does. */
  readonly changes?: ChangeSource
}

type WorkingOptions = {
  readonly todo?: readonly TodoEntry[]
  readonly taskHooks?: TaskHooks
  readonly limits?: OutputLimits
  readonly changes?: ChangeSource
}

/**
 * Makes the working state of a run; its parts start when they are needed.
 *
 * @param sandbox gives the current sandbox for calls: another one gets another file helper and another JavaScript session
 * @param keep writes a whole output to a file and gives its path
 * @param env the engine's own environment, whose secrets are masked everywhere
 * @param options.todo the task list of a resumed session. Default: empty
 * @param options.taskHooks hooks about background tasks. Default: none
 * @param options.limits how much of a result is shown. Default: as without configuration
 * @param options.changes tracks what commands write. Default: nothing does
 */
export function openWorkingState(
  sandbox: () => Sandbox,
  keep: (bytes: Uint8Array) => string,
  env: Readonly<NodeJS.ProcessEnv>,
  { todo = [], taskHooks = noTaskHooks, limits = outputLimits(), changes }: WorkingOptions = {},
): WorkingState {
  const mask = maskSecrets(env)
  const kept = new KeptOutputs(keep, mask)
  const files = following(sandbox, (one) => openFiles(one, kept))
  const repl = following(sandbox, openRepl)
  return {
    get files() {
      return files()
    },
    get repl() {
      return repl()
    },
    seen: new SeenFiles(),
    sessions: new CommandSessions(),
    tasks: new BackgroundTasks(taskHooks),
    todo: new TodoList(todo),
    kept,
    mask,
    limits,
    ...(changes === undefined ? {} : { changes }),
  }
}

/** What is opened for a sandbox, and reopened when the sandbox changes. */
function following<T extends { close(): void }>(sandbox: () => Sandbox, open: (sandbox: Sandbox) => T): () => T {
  let opened: { readonly for: Sandbox; readonly it: T } | undefined
  return () => {
    const now = sandbox()
    if (opened?.for !== now) {
      opened?.it.close()
      opened = { for: now, it: open(now) }
    }
    return opened.it
  }
}

/** Ends what tools have left running, and resolves when it is gone. To be called at the end of the run. */
export async function closeWorkingState({ files, sessions, tasks, repl }: WorkingState): Promise<void> {
  files.close()
  repl.close()
  await tasks.close()
  await sessions.close()
}
