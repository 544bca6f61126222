import { resolve } from 'node:path'
import * as z from 'zod'
import { numbered } from './files/text.ts'
import { defineTool } from './define-tool.ts'
import { replaceText } from './replace-text.ts'
import type { Tool } from './tool.ts'
import { readCurrent, staleReason, writeText } from './write-text.ts'

/** The tool that replaces text in a file. */
export const editFile: Tool = defineTool({
  name: 'edit_file',
  claudeNames: ['Edit'],
  aliases: { file_path: 'path', old_str: 'old_string', new_str: 'new_string' },
  guarded: true,
  description:
    'Replaces text in a file. old_string must occur exactly once, white space included, unless replace_all is true. The edit is refused ' +
    'if the file has changed since you read it.',
  ownItems: true,
  input: z.object({
    path: z.string().min(1).describe('Absolute, or relative to the workspace.'),
    old_string: z.string().min(1).describe('The text to replace, without line numbers.'),
    new_string: z.string().describe('The text to put in its place.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence. Default false.'),
  }),
  validate: ({ old_string, new_string }) =>
    old_string === new_string ? 'edit_file: old_string and new_string are the same.' : undefined,
  async run(input, context) {
    const path = resolve(context.workspace, input.path)
    const current = await readCurrent(path, context)
    if (current.state === 'refused') return current.result
    if (current.state === 'absent') return { ok: false, output: `${path} doesn't exist. Use write_file to create it.` }
    if (current.knowledge === 'changed') return { ok: false, output: staleReason(path) }
    const replaced = replaceText(current.text, input.old_string, input.new_string, input.replace_all ?? false)
    if ('problem' in replaced) return { ok: false, output: `${path}: ${replaced.problem}` }
    const refused = await writeText(path, replaced.text, current.text, context)
    if (refused !== undefined) return refused
    const places = replaced.lines.length === 1 ? `line ${replaced.lines[0]}` : `lines ${replaced.lines.join(', ')}`
    const count = replaced.lines.length === 1 ? 'once' : `${replaced.lines.length} times`
    const [first = 1] = replaced.lines
    const from = Math.max(first - 2, 1)
    const shown = replaced.text.split(/\r?\n/).slice(from - 1, first + 4 + input.new_string.split('\n').length - 1)
    return { ok: true, output: `Replaced ${count} in ${path}, at ${places}:\n${numbered(shown.slice(0, 40), from)}` }
  },
})
