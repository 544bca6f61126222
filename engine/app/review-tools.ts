import type { Tool } from '../tools/tool.ts'

/** The names of the tools that a review may have. They change no files: they read, plan, or run commands in the read-only sandbox. */
const ofReviews: readonly string[] = [
  'exec_command',
  'glob',
  'grep',
  'kill_session',
  'list_dir',
  'read_file',
  'shell',
  'todo',
  'update_plan',
  'view_image',
  'write_stdin',
]

/** Selects the tools that a review has. This is an allow-list, so a new tool is left out until it is added here. */
export function reviewTools(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ name }) => ofReviews.includes(name))
}
