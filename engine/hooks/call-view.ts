import { resolve } from 'node:path'
import type { Action } from '../../policies/index.ts'

/**
 * A call as a hook sees it: with the tool name and the fields that Claude Code's hook scripts expect, or with the tool's own. A patch of three files
 * has one view for each file, because in Claude Code it would be three calls, and one for the whole patch.
 */
export type CallView = {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** The action of the call, for a handler's `if`. Undefined if the view shows none that a permission rule could cover. */
  readonly action: Action | undefined
  /** Translates an input that a hook returned into the tool's own input. If that is impossible, says why. */
  readonly replace: (input: Readonly<Record<string, unknown>>) => Replacement
}

/** The tool's own input, or the reason why a hook's input can't be translated into it. */
type Replacement = { readonly input: Readonly<Record<string, unknown>> } | { readonly problem: string }

/** A tool call with its validated input. `claudeNames` are the names of Claude Code's equivalent tools. */
export type SeenCall = {
  readonly tool: string
  readonly claudeNames: readonly string[]
  readonly input: Readonly<Record<string, unknown>>
}

/** Returns what a call would do, as an action for the Guardian. Only the name and the fields that a hook sees are known. */
export function actionOf(name: string, input: SeenCall['input'], workspace: string): Action | undefined {
  const sandbox = 'danger-full-access'
  const path = typeof input['file_path'] === 'string' ? input['file_path'] : input['path']
  switch (name) {
    case 'Bash':
      return { type: 'exec', argv: ['/bin/bash', '-c', String(input['command'])], cwd: workspace, sandbox }
    case 'Edit':
    case 'Write':
    case 'NotebookEdit':
      return { type: 'patch', root: workspace, sandbox, changes: [{ kind: 'update', path: String(path) }] }
    case 'Read':
    case 'Glob':
    case 'Grep':
    case 'LS':
      return typeof path === 'string' ? { type: 'read', path: resolve(workspace, path) } : undefined
    case 'WebFetch':
      return URL.canParse(String(input['url'])) ? networkAction(new URL(String(input['url']))) : undefined
    default: {
      const [, server, ...tool] = name.startsWith('mcp__') ? name.split('__') : []
      return server === undefined ? undefined : { type: 'mcp', server, tool: tool.join('__'), arguments: input }
    }
  }
}

function networkAction({ hostname, port, protocol }: URL): Action {
  const usual = protocol === 'http:' ? 80 : 443
  return { type: 'network', host: hostname, port: port === '' ? usual : Number(port), protocol: protocol.slice(0, -1) }
}
