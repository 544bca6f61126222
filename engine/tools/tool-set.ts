import type { ModelFamily } from '../models/index.ts'
import { reshape, type ToolShape } from './reshape.ts'
import type { Tool } from './tool.ts'

/** What of a run decides which of our tools its model is shown. */
export type ToolFacts = {
  readonly family: ModelFamily
  /** Whether anything can be fetched. */
  readonly hasNetwork: boolean
  /** Whether anybody or anything could grant a command more than the sandbox gives. */
  readonly canEscalate: boolean
  /** Whether anybody or anything could allow a note in what later runs are told. */
  readonly canRemember: boolean
}

/** Fields by which a call asks for more than the sandbox gives. */
const escalationFields = ['sandbox_permissions', 'justification', 'additional_permissions', 'prefix_rule']

/** What Claude was trained to call the file that a tool is about. */
const claudeFields = { path: 'file_path' }

/** To be searched for by its name: it does nothing that a declared tool could not do. */
const aside: ToolShape = { deferred: true, suggested: false }
const hidden: ToolShape = { hidden: true }

/**
 * A command that takes longer goes on as a session, as Codex has it
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
 * How each family is shown our tools. Whatever isn't named is shown as it says itself. GPT works by patches and the shell, and keeps
 * `update_plan`; Claude and others edit by replacing text, look around with file tools, and keep `todo`.
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
 * Our own tools as a model is shown them: a core that is declared, the rest to be searched for. What can only be refused is not offered, and
 * of two tools for one thing the one that the model was trained on is. All of them can be called all the same.
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
