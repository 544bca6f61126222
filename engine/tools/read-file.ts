import * as z from 'zod'
import { fitImage } from './files/fit-image.ts'
import { maxImageBytes } from './files/image.ts'
import { renderNotebook } from './files/notebook.ts'
import { pdfText } from './files/pdf-text.ts'
import { linesOf, numbered, textOf } from './files/text.ts'
import { defineTool } from './define-tool.ts'
import { largestFile, orFileError, reading } from './file-tool.ts'
import type { Tool } from './tool.ts'
import type { ToolResult } from './tool-result.ts'
import { counted } from '../core/text/counted.ts'

const defaultLines = 2000

/** The tool that reads a file and shows it to the model as text or as an image. */
export const readFile: Tool = defineTool({
  name: 'read_file',
  claudeNames: ['Read'],
  aliases: { file_path: 'path' },
  description:
    'Reads a file: text with line numbers, an image as an image, the text of a PDF, the cells of a notebook. For a long file, give ' +
    'offset and limit.',
  input: z.object({
    path: z.string().min(1).describe('Absolute, or relative to the workspace.'),
    offset: z.int().min(1).optional().describe('The first line to show. Default 1.'),
    limit: z.int().min(1).optional().describe(`How many lines to show. Default ${defaultLines}.`),
  }),
  ...reading,
  run: ({ offset = 1, limit = defaultLines }, { approved: { path }, state: { files, seen }, signal }) =>
    orFileError(async () => {
      const { bytes, size } = await files.read(path, largestFile, signal)
      if (bytes.length < size)
        return { ok: false, output: `${path} has ${size} bytes: read parts of it with exec_command.` }
      seen.note(path, bytes)
      const picture = await fitImage(bytes)
      if (picture !== undefined) return shown(path, picture)
      if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') return readPdf(path, bytes, offset, limit)
      const text = textOf(bytes)
      if (text === undefined)
        return { ok: true, output: `${path}: binary, ${size} bytes. Look at it with exec_command.` }
      const notebook = path.endsWith('.ipynb') ? renderNotebook(text) : undefined
      return showLines(path, notebook ?? text, offset, limit, notebook === undefined)
    }),
})

/** The tool that shows an image to the model. */
export const viewImage: Tool = defineTool({
  name: 'view_image',
  claudeNames: ['Read'],
  description: 'Shows an image file: PNG, JPEG, GIF or WebP. A large image is scaled down.',
  input: z.object({ path: z.string().min(1).describe('Absolute, or relative to the workspace.') }),
  ...reading,
  run: (_, { approved: { path }, state: { files }, signal }) =>
    orFileError(async () => {
      const { bytes, size } = await files.read(path, maxImageBytes, signal)
      if (bytes.length < size) return { ok: false, output: tooBig(path, size) }
      const picture = await fitImage(bytes)
      if (picture === undefined) return { ok: false, output: `${path} is not a PNG, JPEG, GIF or WebP image.` }
      return shown(path, picture)
    }),
})

function shown(path: string, picture: NonNullable<Awaited<ReturnType<typeof fitImage>>>): ToolResult {
  if ('problem' in picture) return { ok: false, output: `${path} can't be shown: ${picture.problem}.` }
  return { ok: true, output: `${path}: ${picture.note}.`, images: [picture.image] }
}

function tooBig(path: string, size: number): string {
  return `${path} has ${size} bytes; the limit for an image is ${maxImageBytes}. Make it smaller first.`
}

async function readPdf(path: string, bytes: Buffer, offset: number, limit: number): Promise<ToolResult> {
  try {
    const pages = await pdfText(bytes)
    const text = pages.map((page, index) => `[page ${index + 1} of ${pages.length}]\n${page}`).join('\n')
    return showLines(path, text, offset, limit, false)
  } catch (error) {
    return { ok: false, output: `${path} is a PDF that can't be read: ${(error as Error).message}` }
  }
}

function showLines(path: string, text: string, offset: number, limit: number, withNumbers: boolean): ToolResult {
  const lines = linesOf(text)
  if (lines.length === 0) return { ok: true, output: `${path} is empty.` }
  if (offset > lines.length)
    return { ok: false, output: `${path} has ${counted(lines.length, 'line')}; there is no line ${offset}.` }
  const shown = lines.slice(offset - 1, offset - 1 + limit)
  const next = offset + shown.length
  const rest = next > lines.length ? '' : `\n[more lines: ${lines.length - next + 1}; continue with offset ${next}]`
  return { ok: true, output: `${withNumbers ? numbered(shown, offset) : shown.join('\n')}${rest}` }
}
