import { applyPatch } from './apply-patch.ts'
import { askUser } from './ask-user.ts'
import { editFile } from './edit-file.ts'
import { withSchemas } from './define-tool.ts'
import { editNotebook } from './edit-notebook.ts'
import { execCommand, shell } from './exec-command.ts'
import { glob, grep, listDirectory } from './find-files.ts'
import { jsRepl } from './js-repl.ts'
import { preparedSchemas } from './prepared-schemas.ts'
import { readFile, viewImage } from './read-file.ts'
import { taskTools } from './tasks/task-tools.ts'
import { todo } from './todo.ts'
import type { Tool } from './tool.ts'
import { updatePlan } from './update-plan.ts'
import { webFetch } from './web-fetch.ts'
import { writeFile } from './write-file.ts'
import { killSession, writeStdin } from './write-stdin.ts'

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
  ...taskTools,
  todo,
  updatePlan,
  viewImage,
  webFetch,
  writeFile,
  writeStdin,
  killSession,
]

/** The tools every run has. */
export const builtInTools = withSchemas(all, preparedSchemas())
