import { join, relative } from 'node:path'
import * as z from 'zod'
import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import { numbered } from './files/text.ts'
import { defineTool } from './define-tool.ts'
import { orFileError, readable, reading } from './file-tool.ts'
import type { Tool } from './tool.ts'

const path = z.string().min(1).optional().describe('Absolute, or relative to the workspace. Default: the workspace.')
const mostEntries = 1000
const mostFiles = 200

/** The tool that lists a directory. */
export const listDirectory: Tool = defineTool({
  name: 'list_dir',
  claudeNames: ['LS'],
  description: 'Lists the names in a directory, with a slash after directories and the size of files.',
  input: z.object({ path }),
  ...reading,
  run: (_, { approved, state: { files }, signal }) =>
    orFileError(async () => {
      const { entries, total, stopped } = await files.list(approved.path, mostEntries, signal)
      const lines = entries.map(({ name: called, kind, size }) => {
        const name = escapeInvisibleInLine(called)
        if (kind === 'directory') return `${name}/`
        if (kind === 'file') return `${name}  ${size} bytes`
        return kind === 'symlink' ? `${name}  (a link)` : `${name}  (not a regular file)`
      })
      if (total > entries.length) lines.push(`[more entries: ${total - entries.length}]`)
      if (stopped !== undefined) lines.push(`[the listing ended ${stopped}]`)
      return { ok: true, output: lines.length === 0 ? 'It is empty.' : lines.join('\n') }
    }),
})

/** The tool that finds files by name. */
export const glob: Tool = defineTool({
  name: 'glob',
  claudeNames: ['Glob'],
  description:
    'Finds files by a glob, the most recently changed first. A glob without a slash ("*.ts") matches names at any depth, one with a ' +
    'slash ("src/**/*.ts") matches paths. Files that git ignores are left out.',
  input: z.object({ pattern: z.string().min(1), path }),
  ...reading,
  run: ({ pattern }, { approved, state: { files }, workspace, signal }) =>
    orFileError(async () => {
      const found = await files.find({ path: approved.path, glob: pattern, limit: mostFiles }, signal)
      const note = noteOf(found.stopped)
      if (found.total === 0) return { ok: true, output: `No file matches.${note}` }
      const lines = found.paths.map((name) => shorten(join(approved.path, name), workspace))
      if (found.total > lines.length) lines.push(`[more files: ${found.total - lines.length}; give a narrower pattern]`)
      return { ok: true, output: `${lines.join('\n')}${note}` }
    }),
})

/** The tool that finds lines in files. */
export const grep: Tool = defineTool({
  name: 'grep',
  claudeNames: ['Grep'],
  description:
    'Searches files for a regular expression (JavaScript syntax) and shows the matching lines with their numbers. ' +
    'Files that git ignores and binary files are left out.',
  input: z.object({
    pattern: z.string().min(1),
    path,
    glob: z
      .string()
      .min(1)
      .optional()
      .describe('Search only files that match, e.g. "*.ts" or "src/**/*.ts". Default: all files.'),
    output: z
      .enum(['lines', 'files', 'count'])
      .optional()
      .describe(
        'What to show: the matching lines, the names of files with matches, or the number of matches in each. Default: lines.',
      ),
    ignore_case: z.boolean().optional().describe('Default false.'),
    multiline: z.boolean().optional().describe('Let "." match line breaks. Default false.'),
    context: z.int().min(0).max(20).optional().describe('Lines to show before and after a match. Default 0.'),
    limit: z.int().min(1).max(2000).optional().describe('The maximum number of matching lines to show. Default 200.'),
  }),
  ...reading,
  run: (input, context) =>
    orFileError(async () => {
      const {
        approved,
        state: { files },
        workspace,
        signal,
      } = context
      const { output = 'lines', limit = 200 } = input
      const query = {
        path: approved.path,
        glob: input.glob,
        pattern: input.pattern,
        ignoreCase: input.ignore_case ?? false,
        multiline: input.multiline ?? false,
        context: output === 'lines' ? (input.context ?? 0) : 0,
        limit: output === 'lines' ? limit : 100_000,
      }
      const found = await files.search(query, signal)
      const { shown, note: withheld } = readable(found.files, context)
      const note = `${withheld}${noteOf(found.stopped)}`
      if (shown.length === 0) return { ok: true, output: `No line matches.${note}` }
      const name = (file: string): string => shorten(file, workspace)
      if (output === 'files') return { ok: true, output: `${shown.map((file) => name(file.path)).join('\n')}${note}` }
      if (output === 'count') {
        return { ok: true, output: `${shown.map((file) => `${name(file.path)}: ${file.count}`).join('\n')}${note}` }
      }
      const blocks = shown.map((file) => `${name(file.path)}\n${withGaps(file.lines)}`)
      const missing =
        found.total - shown.reduce((sum, { lines }) => sum + lines.filter(({ matches }) => matches).length, 0)
      const more =
        missing > 0 && withheld === ''
          ? `\n[more matching lines: ${missing}; narrow the search or raise the limit]`
          : ''
      return { ok: true, output: `${blocks.join('\n\n')}${more}${note}` }
    }),
})

/** The line that tells the model that a search has not looked at everything; empty if it has. */
function noteOf(stopped: string | undefined): string {
  return stopped === undefined
    ? ''
    : `\n[the search ended ${stopped} without looking at the rest; give a path further down]`
}

/** Renders lines with a mark wherever lines between them are left out. */
function withGaps(lines: readonly { readonly number: number; readonly text: string }[]): string {
  return lines
    .map(({ number, text }, index) => {
      const before = lines[index - 1]?.number
      const gap = before === undefined || before === number - 1 ? '' : '   ...\n'
      return `${gap}${numbered([text], number)}`
    })
    .join('\n')
}

/** Renders a path in one line. A path inside the workspace is shown relative to the workspace. */
function shorten(path: string, workspace: string): string {
  return escapeInvisibleInLine(path.startsWith(`${workspace}/`) ? relative(workspace, path) : path)
}
