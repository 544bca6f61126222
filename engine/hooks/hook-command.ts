import type { Handler } from './hooks-schema.ts'

type CommandHandler = Extract<Handler, { type: 'command' }>

/** Where hooks of a file run. */
type HookPlace = {
  /** The directory of the run. */
  readonly project: string
  /** The folder of the file's plugin; undefined: none. */
  readonly pluginRoot: string | undefined
}

/** The program of a command hook, and the variables that Claude Code and Gemini CLI set for theirs. */
export function hookCommand(
  handler: CommandHandler,
  { project, pluginRoot }: HookPlace,
): { readonly argv: readonly [string, ...string[]]; readonly env: Readonly<Record<string, string>> } {
  // Settings write the folder as `${CLAUDE_PLUGIN_ROOT}` in places that no shell reads, too.
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
