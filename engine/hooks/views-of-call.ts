import { resolve } from 'node:path'
import type { Action } from '../../policies/index.ts'
import { actionOf, type CallView, type SeenCall } from './call-view.ts'
import { bashView, scriptOf, typedView, vectorView } from './command-views.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import { patchInCommand } from '../tools/patch-in-command.ts'
import type { Tool } from '../tools/tool.ts'
import { patchChanges, type PatchView } from './patch-changes.ts'

/** Returns the forms in which hooks see a call: first those that hook scripts expect, then the tool's own. The list is never empty. */
export function viewsOf(call: SeenCall, workspace: string): readonly CallView[] {
  const own = ownView(call, workspace)
  if (call.tool === 'exec_command') {
    return [bashView(call, workspace), ...typedPatchViews(String(call.input['cmd']), call, workspace), own]
  }
  if (call.tool === 'shell')
    return [vectorView(call, workspace), ...typedPatchViews(scriptOf(call), call, workspace), own]
  if (call.tool === 'write_stdin')
    return String(call.input['chars'] ?? '') === '' ? [own] : [typedView(call, workspace), own]
  if (call.tool === 'task_create') return [taskView(call, workspace), own]
  if (call.tool === 'save_memory') return [...memoryView(call, workspace), own]
  if (call.tool === 'apply_patch') {
    return [...patchChanges(String(call.input['input'])).map((change) => changeView(change, workspace)), own]
  }
  return [...call.claudeNames.map((name) => renamed(name, call, workspace)), own]
}

function ownView(call: SeenCall, workspace: string): CallView {
  return sameFields(call.tool, call, workspace)
}

/**
 * Returns the views of a patch that a shell command passes to apply_patch. It is applied like any other patch, so hooks that guard edits must see it.
 */
function typedPatchViews(script: string, { input }: SeenCall, workspace: string): readonly CallView[] {
  const patch = patchInCommand(script)
  if (patch === undefined) return []
  const from = resolve(workspace, String(input['workdir'] ?? '.'), patch.directory ?? '.')
  return patchChanges(patch.text).map((change) => changeView(change, from))
}

/** Shows a background task as the command or agent that it starts, so that hooks that guard commands or agents also guard the task. */
function taskView(call: SeenCall, workspace: string): CallView {
  const { input } = call
  if (input['cmd'] === undefined) return sameFields('Agent', call, workspace)
  const view = bashView(call, workspace)
  return { ...view, input: { ...view.input, run_in_background: true } }
}

/** Shows a note for the repository as an edit to `AGENTS.md`. Which instruction file will really change isn't known until the user is asked. */
function memoryView({ input }: SeenCall, workspace: string): readonly CallView[] {
  if (input['scope'] === 'user') return []
  const view = changeView({ path: 'AGENTS.md', kind: 'update', text: `- ${String(input['fact'])}` }, workspace)
  return [
    {
      ...view,
      replace: () => ({ problem: 'the note is only shown as an edit; change the input of save_memory instead' }),
    },
  ]
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
    replace: () => ({ problem: "a single file of a patch can't be changed; change the input of apply_patch instead" }),
  }
}

/** The Claude Code tools for which hook scripts expect an absolute path in `file_path`. */
const withFilePath: readonly string[] = ['Read', 'Write', 'Edit', 'NotebookEdit']

function renamed(name: string, call: SeenCall, workspace: string): CallView {
  const { path, ...rest } = call.input
  if (typeof path !== 'string' || !withFilePath.includes(name)) return sameFields(name, call, workspace)
  // `file_path` comes last, so that no other field can replace it and hide the real file from a guard.
  const shown = { ...rest, file_path: resolve(workspace, path) }
  const replace: CallView['replace'] = ({ file_path: file, ...others }) => ({ input: { path: file, ...others } })
  return { name, input: shown, action: actionOf(name, shown, workspace), replace }
}

function sameFields(name: string, { input }: SeenCall, workspace: string): CallView {
  return { name, input, action: actionOf(name, input, workspace), replace: (changed) => ({ input: changed }) }
}

/** Returns all names that settings may use for a tool: its own name, and those of the equivalent Claude Code tools. */
export function namesOf({ name, claudeNames }: Pick<Tool, 'name' | 'claudeNames'>): readonly string[] {
  return [name, ...claudeNames]
}

/** Returns the view of an action under review. Its input can no longer be changed, because it has been judged. */
export function viewOfAction(action: Action): CallView {
  const { name, input } = shownAction(action)
  return {
    name,
    input,
    action,
    replace: () => ({ problem: 'the input has already been judged; only a PreToolUse hook can change it' }),
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
    case 'land':
      return { name: 'Land', input: { losses: action.losses } }
    default:
      return action satisfies never
  }
}
