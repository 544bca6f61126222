import type { ModelFamily } from '../models/index.ts'
import { reshape, type ToolShape } from './reshape.ts'
import type { Tool } from './tool.ts'

/** The facts about a run that decide which of our tools its model is shown. */
export type ToolFacts = {
  readonly family: ModelFamily
  /** Whether anything can be fetched. */
  readonly hasNetwork: boolean
  /** Whether anybody or anything could grant a command more than the sandbox allows. */
  readonly canEscalate: boolean
  /** Whether anybody or anything could allow a note in the instructions of later runs. */
  readonly canRemember: boolean
}

/** Fields by which a call asks for more than the sandbox allows. */
const escalationFields = ['sandbox_permissions', 'justification', 'additional_permissions', 'prefix_rule']

/** The name that Claude was trained on for a tool's file. */
const claudeFields = { path: 'file_path' }

/** Searchable by name only: a declared tool can do everything that it does. */
const aside: ToolShape = { deferred: true, suggested: false }
const hidden: ToolShape = { hidden: true }

/**
 * A command that takes longer continues as a session, as in Codex
 * (https://github.com/openai/codex/blob/main/codex-rs/core/src/tools/handlers/unified_exec.rs), and as its models expect.
 */
const yieldsAfterMs = 10_000

const becomesSession: ToolShape = {
  filled: { yield_time_ms: yieldsAfterMs },
  described: {
    tool:
      'Runs a shell command in the workspace, inside a sandbox, and returns its output and exit code, or a session ID where it goes on ' +
      'after yield_time_ms; write_stdin waits for the rest. Standard input is empty. To change files use apply_patch.',
    fields: {
      timeout_ms:
        'Milliseconds after which the command and everything it started is killed. Default: it may go on as long as the run.',
      yield_time_ms: `Milliseconds after which the call is answered though the command goes on. Default ${yieldsAfterMs}.`,
    },
  },
}

/**
 * How each family is shown our tools. Unlisted tools are shown unchanged. GPT works with patches and the shell, and has `update_plan`;
 * Claude and others edit by replacing text, look around with file tools, and have `todo`.
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
 * Our own tools for a model: a core that is declared, the rest to be searched for. A tool whose calls could only be denied is not offered,
 * and of two tools for one purpose only the one that the model was trained on. All of them can still be called.
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
