import type { Tool } from '../tools/tool.ts'

/** The tools of a review: they read, or run programs in the read-only sandbox. */
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

/** The tools that a review has. This is an allow-list: a new tool is left out until it is named here. */
export function reviewTools(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ name }) => ofReviews.includes(name))
}
