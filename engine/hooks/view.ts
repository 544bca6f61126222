import { resolve } from 'node:path'
import type { Action } from '../../policies/index.ts'
import { shellJoin } from '../text/shell-join.ts'
import { patchChanges, type PatchView } from './patch-changes.ts'

/**
 * A call as a hook is shown it: under the name and with the fields that hook scripts of Claude Code expect. A patch of three
 * files is three views, as it would be three calls there.
 */
export type CallView = {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** What the call would do, for a handler's `if`. Undefined: nothing that a permission could cover. */
  readonly action: Action | undefined
  /** The tool's own input for an input that a hook wants instead, or why it can't be changed so. */
  readonly replace: (input: Readonly<Record<string, unknown>>) => Replacement
}

/** The outcome of turning a hook's input into the tool's own. */
type Replacement = { readonly input: Readonly<Record<string, unknown>> } | { readonly problem: string }

/** A call of a tool, its input checked. */
type SeenCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }

/** How a call looks to hooks, the views that scripts expect first and the tool's own last. Never empty. */
export function viewsOf(call: SeenCall, workspace: string): readonly CallView[] {
  const own = ownView(call, workspace)
  if (call.tool === 'exec_command') return [bashView(call, workspace), own]
  if (call.tool === 'task_create') return [taskView(call, workspace), own]
  if (call.tool === 'save_memory') return [...memoryView(call, workspace), own]
  if (call.tool === 'apply_patch') {
    return [...patchChanges(String(call.input['input'])).map((change) => changeView(change, workspace)), own]
  }
  const renamed = claudeNames[call.tool]
  return renamed === undefined ? [own] : [{ ...own, ...renamed(call.input, workspace) }, own]
}

function ownView({ tool, input }: SeenCall, workspace: string): CallView {
  return { name: tool, input, action: actionOf(tool, input, workspace), replace: (changed) => ({ input: changed }) }
}

function bashView({ input }: SeenCall, workspace: string): CallView {
  const { cmd, timeout_ms: timeout, justification: description } = input
  const shown = {
    command: cmd,
    ...(timeout === undefined ? {} : { timeout }),
    ...(description === undefined ? {} : { description }),
  }
  return {
    name: 'Bash',
    input: shown,
    action: actionOf('Bash', shown, workspace),
    replace: ({ command, timeout: milliseconds, ...rest }) => {
      const unknown = Object.keys(rest).filter((key) => !['description', 'run_in_background'].includes(key))
      if (unknown.length > 0) return { problem: `it sets ${unknown.join(', ')}, which a command has not` }
      return { input: { ...input, cmd: command, ...(milliseconds === undefined ? {} : { timeout_ms: milliseconds }) } }
    },
  }
}

/** A background task is the command or the agent that it starts: what guards those guards it. */
function taskView(call: SeenCall, workspace: string): CallView {
  const { input } = call
  if (input['cmd'] === undefined) return { ...ownView(call, workspace), ...sameFields('Agent')(input, workspace) }
  const view = bashView(call, workspace)
  return { ...view, input: { ...view.input, run_in_background: true } }
}

/** A note for the repository is an edit of its instructions. Which file of the name it is shows once it is asked about. */
function memoryView({ input }: SeenCall, workspace: string): readonly CallView[] {
  if (input['scope'] === 'user') return []
  const view = changeView({ path: 'AGENTS.md', kind: 'update', text: `- ${String(input['fact'])}` }, workspace)
  return [{ ...view, replace: () => ({ problem: 'change the input of save_memory instead' }) }]
}

function changeView({ path, kind, text, before }: PatchView, workspace: string): CallView {
  const added = kind === 'add'
  const texts = added ? { content: text ?? '' } : { old_string: before ?? '', new_string: text ?? '' }
  const input = { file_path: resolve(workspace, path), ...texts }
  const name = added ? 'Write' : 'Edit'
  return {
    name,
    input,
    action: actionOf(name, input, workspace),
    replace: () => ({ problem: 'one file of a patch can not be changed alone: change the input of apply_patch' }),
  }
}

/** Tools of ours that Claude Code has under another name, with the fields its scripts read. */
const claudeNames: Readonly<
  Record<
    string,
    (input: SeenCall['input'], workspace: string) => Pick<CallView, 'name' | 'input' | 'action' | 'replace'>
  >
> = {
  read_file: fileView('Read'),
  write_file: fileView('Write'),
  edit_file: fileView('Edit'),
  edit_notebook: fileView('NotebookEdit'),
  glob: sameFields('Glob'),
  grep: sameFields('Grep'),
  list_dir: sameFields('LS'),
  web_fetch: sameFields('WebFetch'),
  web_search: sameFields('WebSearch'),
  agent: sameFields('Agent'),
  skill: sameFields('Skill'),
  task_output: sameFields('TaskOutput'),
  task_stop: sameFields('TaskStop'),
  todo: sameFields('TodoWrite'),
  enter_worktree: sameFields('EnterWorktree'),
  exit_worktree: sameFields('ExitWorktree'),
  enter_plan_mode: sameFields('EnterPlanMode'),
  exit_plan_mode: sameFields('ExitPlanMode'),
}

function fileView(name: string) {
  return (input: SeenCall['input'], workspace: string) => {
    const { path, ...rest } = input
    const shown = { file_path: resolve(workspace, String(path)), ...rest }
    const replace: CallView['replace'] = ({ file_path: file, ...others }) => ({ input: { path: file, ...others } })
    return { name, input: shown, action: actionOf(name, shown, workspace), replace }
  }
}

function sameFields(name: string) {
  return (input: SeenCall['input'], workspace: string) => ({
    name,
    input,
    action: actionOf(name, input, workspace),
    replace: (changed: SeenCall['input']): Replacement => ({ input: changed }),
  })
}

function actionOf(name: string, input: SeenCall['input'], workspace: string): Action | undefined {
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

/** All names that a tool goes by in settings: its own, and those of Claude Code's tools that do the same. */
export function namesOf(tool: string): readonly string[] {
  switch (tool) {
    case 'exec_command':
      return [tool, 'Bash']
    case 'save_memory':
      return [tool, 'Edit']
    case 'task_create':
      return [tool, 'Bash', 'Agent']
    case 'apply_patch':
      return [tool, 'Edit', 'Write', 'MultiEdit']
    default: {
      const renamed = claudeNames[tool]
      return renamed === undefined ? [tool] : [tool, renamed({}, '/').name]
    }
  }
}

/** An action that somebody is asked about, as a hook is shown it. Its input can't be changed any more: it is what was judged. */
export function viewOfAction(action: Action): CallView {
  const { name, input } = shownAction(action)
  return {
    name,
    input,
    action,
    replace: () => ({ problem: 'what is asked about is settled: a PreToolUse hook could change it' }),
  }
}

function shownAction(action: Action): Pick<CallView, 'name' | 'input'> {
  switch (action.type) {
    case 'exec': {
      const [, flag, script] = action.argv
      const command = action.argv.length === 3 && /^-l?c$/.test(flag ?? '') ? script : shellJoin(action.argv)
      return {
        name: 'Bash',
        input: {
          command,
          ...(action.escalation === undefined ? {} : { description: action.escalation.justification }),
        },
      }
    }
    case 'patch': {
      const [first] = action.changes
      const files = action.changes.map(({ path }) => path)
      return { name: first?.kind === 'add' ? 'Write' : 'Edit', input: { file_path: first?.path ?? action.root, files } }
    }
    case 'read':
      return { name: 'Read', input: { file_path: action.path } }
    case 'network':
      return { name: 'WebFetch', input: { url: `${action.protocol}://${action.host}:${action.port}/` } }
    case 'search':
      return { name: 'WebSearch', input: { allowed_domains: action.domains } }
    case 'mcp':
      return { name: `mcp__${action.server}__${action.tool}`, input: action.arguments as CallView['input'] }
    case 'plan':
      return { name: 'ExitPlanMode', input: { plan: action.plan } }
    default:
      return action satisfies never
  }
}
