import type { Tool } from '../tools/tool.ts'

/** The tools of a review: they read, or run what a read-only sandbox holds. */
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

/** Those of some tools that a review has. A list of what is let in: a new tool is none of them until it is named here. */
export function reviewTools(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ name }) => ofReviews.includes(name))
}
