import { resolve } from 'node:path'
import * as z from 'zod'
import { linesOf } from './files/text.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'
import { readCurrent, staleReason, writeText } from './write-text.ts'
import { counted } from '../core/text/counted.ts'

/** The tool that writes a whole file. */
export const writeFile: Tool = defineTool({
  name: 'write_file',
  claudeNames: ['Write'],
  aliases: { file_path: 'path' },
  guarded: true,
  description:
    'Writes a whole file: creates a new one, or replaces one that you have read. To change part of a file, use edit_file or apply_patch.',
  ownItems: true,
  input: z.object({
    path: z.string().min(1).describe('Absolute, or relative to the workspace.'),
    content: z.string().describe('The full content of the file.'),
  }),
  async run(input, context) {
    const path = resolve(context.workspace, input.path)
    const current = await readCurrent(path, context)
    if (current.state === 'refused') return current.result
    if (current.state === 'text' && current.knowledge === 'unseen') {
      return { ok: false, output: `${path} exists, but you have not read it. Read it first, or choose another name.` }
    }
    if (current.state === 'text' && current.knowledge === 'changed') return { ok: false, output: staleReason(path) }
    const before = current.state === 'text' ? current.text : undefined
    const refused = await writeText(path, input.content, before, context)
    if (refused !== undefined) return refused
    const lines = linesOf(input.content).length
    return { ok: true, output: `${before === undefined ? 'Created' : 'Replaced'} ${path}: ${counted(lines, 'line')}.` }
  },
})
