import type { Handler } from './hooks-schema.ts'

type CommandHandler = Extract<Handler, { type: 'command' }>

/** The directories that a hook can refer to. */
type HookPlace = {
  /** The directory of the run, for `CLAUDE_PROJECT_DIR`. */
  readonly project: string
  /** The folder of the plugin that the hook's file belongs to, for `CLAUDE_PLUGIN_ROOT`; undefined if there is none. */
  readonly pluginRoot: string | undefined
}

/** Returns the program of a command hook with its arguments, and the variables that Claude Code and Gemini CLI set for such hooks. */
export function hookCommand(
  handler: CommandHandler,
  { project, pluginRoot }: HookPlace,
): { readonly argv: readonly [string, ...string[]]; readonly env: Readonly<Record<string, string>> } {
  // Hooks may refer to the plugin's folder by `${CLAUDE_PLUGIN_ROOT}` even if no shell expands that variable.
  const fill = (text: string): string =>
    pluginRoot === undefined ? text : text.replaceAll('${CLAUDE_PLUGIN_ROOT}', pluginRoot)
  const plugin = pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot }
  return {
    argv:
      handler.args === undefined
        ? [handler.shell === 'bash' ? '/bin/bash' : '/bin/sh', '-c', fill(handler.command)]
        : [fill(handler.command), ...handler.args.map(fill)],
    env: { CLAUDE_PROJECT_DIR: project, GEMINI_PROJECT_DIR: project, ...plugin },
  }
}
