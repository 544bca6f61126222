import { resolve } from 'node:path'
import * as z from 'zod'
import { editNotebook as edited } from './files/notebook.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'
import { readCurrent, staleReason, writeText } from './write-text.ts'

/** The tool that changes one cell of a Jupyter notebook. */
export const editNotebook: Tool = defineTool({
  name: 'edit_notebook',
  claudeNames: ['NotebookEdit'],
  aliases: { notebook_path: 'path', file_path: 'path' },
  guarded: true,
  description: 'Changes one cell of a Jupyter notebook: replaces its source, inserts a cell, or deletes one.',
  ownItems: true,
  input: z.object({
    path: z.string().min(1).describe('Absolute, or relative to the workspace.'),
    mode: z.enum(['replace', 'insert', 'delete']),
    cell: z
      .union([z.int().min(0), z.string()])
      .describe(
        'Number of the cell, starting at 1, or its id. For insert: the cell after which to insert, or 0 for the beginning.',
      ),
    source: z.string().optional().describe('The new source. Not used with delete.'),
    cell_type: z.enum(['code', 'markdown', 'raw']).optional().describe('Default: unchanged; "code" for a new cell.'),
  }),
  validate: ({ mode, source }) =>
    mode !== 'delete' && source === undefined ? `edit_notebook: ${mode} needs a source.` : undefined,
  async run({ mode, cell, source = '', cell_type: type, ...input }, context) {
    const path = resolve(context.workspace, input.path)
    const current = await readCurrent(path, context)
    if (current.state === 'refused') return current.result
    if (current.state === 'absent') return { ok: false, output: `${path} doesn't exist.` }
    if (current.knowledge === 'changed') return { ok: false, output: staleReason(path) }
    const next = edited(current.text, { mode, cell, source, type })
    if ('problem' in next) return { ok: false, output: `${path}: ${next.problem}.` }
    const refused = await writeText(path, next.text, current.text, context)
    return refused ?? { ok: true, output: `${path}: cell ${cell}: ${mode} done.` }
  },
})
