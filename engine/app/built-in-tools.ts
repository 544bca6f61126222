import { applyPatch } from '../tools/apply-patch-tool.ts'
import { askUser } from '../approvals/ask-user.ts'
import { editFile } from '../tools/edit-file.ts'
import { withSchemas } from '../tools/define-tool.ts'
import { editNotebook } from '../tools/edit-notebook.ts'
import { execCommand, shell } from '../tools/exec-command.ts'
import { glob, grep, listDirectory } from '../tools/find-files.ts'
import { jsRepl } from '../tools/js-repl.ts'
import { preparedSchemas } from '../tools/prepared-schemas.ts'
import { readFile, viewImage } from '../tools/read-file.ts'
import { taskCreate } from '../agents/task-create.ts'
import { taskTools } from '../tools/tasks/task-tools.ts'
import { todo } from '../tools/todo.ts'
import type { Tool } from '../tools/tool.ts'
import { updatePlan } from '../tools/update-plan.ts'
import { webFetch } from '../tools/web-fetch.ts'
import { writeFile } from '../tools/write-file.ts'
import { killSession, writeStdin } from '../tools/write-stdin.ts'

const all: readonly Tool[] = [
  applyPatch,
  askUser,
  editFile,
  editNotebook,
  execCommand,
  glob,
  grep,
  jsRepl,
  listDirectory,
  readFile,
  shell,
  taskCreate,
  ...taskTools,
  todo,
  updatePlan,
  viewImage,
  webFetch,
  writeFile,
  writeStdin,
  killSession,
]

/**
 * The tools that every run has, except that a review has only some of them.
 *
 * @example console.log(builtInTools.map(({ name }) => name))
 */
export const builtInTools = withSchemas(all, preparedSchemas())
