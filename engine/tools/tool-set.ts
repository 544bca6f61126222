import type { ModelFamily } from '../models/index.ts'
import { reshape, type ToolShape } from './reshape.ts'
import type { Tool } from './tool.ts'

/** The facts about a run that determine which of our tools its model gets. */
export type ToolFacts = {
  readonly family: ModelFamily
  /** Whether web pages can be fetched. */
  readonly hasNetwork: boolean
  /** Whether a person or a reviewer could grant a command more than the sandbox allows. */
  readonly canEscalate: boolean
  /** Whether a person, a reviewer or a permission could allow the model to add a note to the instructions of later runs. */
  readonly canRemember: boolean
}

/** The fields with which a call asks for more than the sandbox allows. */
const escalationFields = ['sandbox_permissions', 'justification', 'additional_permissions', 'prefix_rule']

/** The name that Claude was trained to use for the field that contains a file's path. */
const claudeFields = { path: 'file_path' }

/** The shape of a tool that is found only by searching, because a declared tool serves the same purpose. */
const aside: ToolShape = { deferred: true, suggested: false }
const hidden: ToolShape = { hidden: true }

/**
 * The number of milliseconds after which a call returns even though its command is still running; the command then continues as a session. Codex does
 * the same (https://github.com/openai/codex/blob/main/codex-rs/core/src/tools/handlers/unified_exec.rs), so its models expect it.
 */
const yieldsAfterMs = 10_000

const becomesSession: ToolShape = {
  filled: { yield_time_ms: yieldsAfterMs },
  described: {
    tool:
      'Runs a shell command in the workspace, inside a sandbox. Returns its output and exit code, or a session ID if it is still running ' +
      'after yield_time_ms; write_stdin then waits for the rest. Standard input is empty. To change files, use apply_patch.',
    fields: {
      timeout_ms:
        'Milliseconds after which the command and everything it started are killed. Default: it may run as long as the run lasts.',
      yield_time_ms: `Milliseconds after which the call returns even if the command is still running. Default ${yieldsAfterMs}.`,
    },
  },
}

/**
 * How our tools are presented to GPT models, which edit with patches, use the shell, and get `update_plan`. Tools that are not listed are presented
 * unchanged.
 */
const forGpt: Readonly<Record<string, ToolShape>> = {
  edit_file: aside,
  edit_notebook: aside,
  glob: aside,
  js_repl: aside,
  list_dir: aside,
  send_message: aside,
  todo: hidden,
  write_file: aside,
}

const forCodex: Readonly<Record<string, ToolShape>> = { ...forGpt, exec_command: becomesSession }

/**
 * How our tools are presented to models that edit by replacing text, explore with file tools, and get `todo`. Tools that are not listed are presented
 * unchanged.
 */
const forOthers: Readonly<Record<string, ToolShape>> = {
  edit_notebook: aside,
  js_repl: aside,
  list_dir: aside,
  send_message: aside,
  update_plan: hidden,
  view_image: aside,
}

const forClaude: Readonly<Record<string, ToolShape>> = {
  ...forOthers,
  edit_file: { renamed: claudeFields },
  edit_notebook: { ...aside, renamed: claudeFields },
  read_file: { renamed: claudeFields },
  write_file: { renamed: claudeFields },
}

const byFamily: Readonly<Record<ModelFamily, Readonly<Record<string, ToolShape>>>> = {
  gpt: forCodex,
  openai: forGpt,
  claude: forClaude,
  other: forOthers,
}

/**
 * Selects our own tools for a model. The most important tools are declared. Other tools that serve the same purposes must be searched for, or are not
 * offered at all, depending on what the model was trained on. A tool whose calls could only be denied is not offered either. Tools that are not
 * offered can still be called.
 */
export function toolSet(tools: readonly Tool[], facts: ToolFacts): readonly Tool[] {
  return tools.map((tool) => {
    const shape = shapeOf(tool.name, facts)
    return Object.keys(shape).length === 0 ? tool : reshape(tool, shape)
  })
}

function shapeOf(name: string, { family, hasNetwork, canEscalate, canRemember }: ToolFacts): ToolShape {
  if (name === 'web_fetch' && !hasNetwork) return hidden
  if (name === 'save_memory' && !canRemember) return hidden
  const shape = byFamily[family][name] ?? {}
  const isCommand = name === 'exec_command' || name === 'task_create'
  return isCommand && !canEscalate ? { ...shape, without: escalationFields } : shape
}
