import { resolve } from 'node:path'
import type { Action } from '../../policies/index.ts'

/**
 * A call as a hook is shown it: under the name and with the fields that hook scripts of Claude Code expect. A patch of three
 * files is three views, as it would be three calls there.
 */
export type CallView = {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** The action of the call, for a handler's `if`. Undefined: no permission could cover it. */
  readonly action: Action | undefined
  /** The tool's own input for an input that a hook wants instead, or why it can't be changed so. */
  readonly replace: (input: Readonly<Record<string, unknown>>) => Replacement
}

/** The outcome of turning a hook's input into the tool's own. */
type Replacement = { readonly input: Readonly<Record<string, unknown>> } | { readonly problem: string }

/** A call of a tool, its input checked, with the names of Claude Code's tools that do the same. */
export type SeenCall = {
  readonly tool: string
  readonly claudeNames: readonly string[]
  readonly input: Readonly<Record<string, unknown>>
}

/** What a call would do, in the Guardian's words, from the name and the fields that a hook is shown. */
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
