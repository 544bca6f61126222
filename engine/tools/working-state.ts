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

/** The state that the tools of one run share and keep between calls. */
export type WorkingState = {
  /** Access to files as a command in the sandbox sees them. */
  readonly files: Files
  /** The contents of files that the model has seen. */
  readonly seen: SeenFiles
  /** Commands that continue after their calls have returned. */
  readonly sessions: CommandSessions
  /** The background tasks. */
  readonly tasks: BackgroundTasks
  /** The JavaScript session. */
  readonly repl: Repl
  /** The session's task list. */
  readonly todo: TodoList
  /** Outputs that were too long to show. */
  readonly kept: KeptOutputs
  /** Masks the secrets of the environment in a text. */
  readonly mask: Mask
  /** How much of a result is shown. */
  readonly limits: OutputLimits
  /** Tracks what commands write. Absent: writes are not tracked. */
  readonly changes?: ChangeSource
  /** The absolute paths of files that the run's view leaves out because they hold secrets. */
  readonly notShown: readonly string[]
}

type WorkingOptions = {
  readonly todo?: readonly TodoEntry[]
  readonly taskHooks?: TaskHooks
  readonly limits?: OutputLimits
  readonly changes?: ChangeSource
  readonly notShown?: readonly string[]
}

/**
 * Creates the working state of a run. Its parts are started when they are first needed.
 *
 * @param sandbox returns the current sandbox for calls. When it changes, the file helper and the JavaScript session are replaced
 * @param keep writes a full output to a file and returns the file's path
 * @param env the engine's own environment; its secrets are masked everywhere
 * @param options.todo the task list of a resumed session. Default: empty
 * @param options.taskHooks hooks for background tasks. Default: none
 * @param options.limits how much of a result is shown. Default: the built-in limits
 * @param options.notShown files that commands aren't shown. Default: none
 * @param options.changes tracks what commands write. Default: writes are not tracked
 */
export function openWorkingState(
  sandbox: () => Sandbox,
  keep: (bytes: Uint8Array) => string,
  env: Readonly<NodeJS.ProcessEnv>,
  { todo = [], taskHooks = noTaskHooks, limits = outputLimits(), changes, notShown = [] }: WorkingOptions = {},
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
    notShown,
    ...(changes === undefined ? {} : { changes }),
  }
}

/**
 * Uses `open` to create an object for the current sandbox. The returned function returns that object; if the sandbox has changed since the last call,
 * the function first closes the old object and opens a new one.
 */
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

/** Stops everything that tools have left running. Resolves when the tasks and commands have ended. Must be called at the end of the run. */
export async function closeWorkingState({ files, sessions, tasks, repl }: WorkingState): Promise<void> {
  files.close()
  repl.close()
  await tasks.close()
  await sessions.close()
}
